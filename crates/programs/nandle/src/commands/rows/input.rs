//! The thread that reads records and makes rows of them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use nandle_spill::keys::KeyWriter;
use nandle_units::format_bytes;

use super::RECORD_PART;
use super::batch::Batch;
use super::key::Keys;
use super::records::{Format, Splitter};
use crate::error::CliError;

/// What is read, and how rows are made of it.
pub(crate) struct Input {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) format: Format,
    /// The first record of each file stays in front.
    pub(crate) has_header: bool,
    /// None: the record is the key, and there is nothing else.
    pub(crate) keys: Option<Keys>,
    /// What goes with the key.
    pub(crate) carried: Carried,
    /// Bytes of rows that are handed over at once.
    pub(crate) batch_bytes: usize,
    /// A longer record is an error.
    pub(crate) record_bytes_max: usize,
}

/// What of a record goes with its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carried {
    /// All of it.
    Record,
    /// The fields that aren't the key.
    OtherFields,
}

/// What comes from the thread.
pub(crate) enum Message {
    /// The header, before all rows.
    Header(Vec<u8>),
    Rows(Batch),
    /// That was all. Where this doesn't come the input isn't whole.
    End,
    Failed(CliError),
}

/// So often an interruption is looked for while no input comes.
const PATIENCE: Duration = Duration::from_millis(100);
/// Batches that may be under way.
pub(crate) const BATCHES: usize = 3;

/// The thread's other end.
pub(crate) struct Rows {
    messages: Receiver<Message>,
    /// Batches go back when their rows were taken.
    used: Sender<Batch>,
}

impl Rows {
    /// What comes next; none where nothing has for a while.
    pub(crate) fn next(&self) -> Option<Message> {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::Failed(CliError::failed(
                "reading: the thread that read ended before its input did",
            ))),
        }
    }

    pub(crate) fn give_back(&self, mut batch: Batch) {
        batch.clear();
        // The thread is gone when it has read everything.
        _ = self.used.send(batch);
    }
}

impl Input {
    /// Bytes of all files, where that is known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        if self.files.is_empty() {
            return None;
        }
        let length = |file: &PathBuf| {
            let metadata = file.metadata().ok()?;
            (metadata.is_file() && file.as_os_str() != "-").then_some(metadata.len())
        };
        self.files.iter().map(length).sum()
    }

    /// Begins to read.
    pub(crate) fn start(self) -> Result<Rows, CliError> {
        let (sender, messages) = sync_channel(BATCHES - 1);
        let (used, spare) = channel();
        let reading = move || {
            let mut maker = Maker {
                input: self,
                sender,
                spare,
                batch: Batch::default(),
                header: None,
                others: Vec::new(),
            };
            if let Err(Some(error)) = maker.read_all() {
                _ = maker.sender.send(Message::Failed(error));
            }
        };
        let spawned = thread::Builder::new().name("nandle-input".into()).spawn(reading);
        spawned.map_err(|error| CliError::failed(format!("starting a thread to read: {error}")))?;
        Ok(Rows { messages, used })
    }
}

/// Makes batches of records.
struct Maker {
    input: Input,
    sender: SyncSender<Message>,
    spare: Receiver<Batch>,
    batch: Batch,
    header: Option<Vec<u8>>,
    /// The fields of a record that aren't its key.
    others: Vec<u8>,
}

/// Nothing: the rows are wanted no more.
type Stopped = Option<CliError>;

impl Maker {
    fn read_all(&mut self) -> Result<(), Stopped> {
        let files = std::mem::take(&mut self.input.files);
        if files.is_empty() {
            self.read(Path::new("-"))?;
        }
        for file in &files {
            self.read(file)?;
        }
        self.send()?;
        self.sender.send(Message::End).map_err(|_| None)
    }

    fn read(&mut self, path: &Path) -> Result<(), Stopped> {
        let failed =
            |what: &dyn std::fmt::Display| Some(CliError::failed(format!("{}: {what}", path.display())));
        let mut file: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(|error| failed(&format_args!("opening it: {error}")))?)
        };
        let mut splitter = Splitter::new(self.input.format);
        let mut is_header = self.input.has_header;
        let mut buffer = vec![0; 2 * self.input.batch_bytes];
        // What is in the buffer and not yet a record.
        let (mut start, mut end) = (0, 0);
        loop {
            while let Some((length, mark)) = splitter.first(part(&buffer, start, end)) {
                self.take(part(&buffer, start, start + length), path, &mut is_header)?;
                start += length + mark;
            }
            buffer.copy_within(start..end, 0);
            (start, end) = (0, end - start);
            if end == buffer.len() {
                if end >= self.input.record_bytes_max {
                    let what = format!(
                        "a record is longer than {}, too long for this memory: --memory must be at least {RECORD_PART} times as \
                         much as the longest record",
                        format_bytes(self.input.record_bytes_max as u64)
                    );
                    return Err(failed(&what));
                }
                // A record that is longer than the buffer.
                buffer.resize(2 * buffer.len(), 0);
            }
            let room = buffer.get_mut(end..).unwrap_or_default();
            match file.read(room) {
                Ok(0) => break,
                Ok(count) => end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&format_args!("reading it: {error}"))),
            }
        }
        let rest = splitter.rest(part(&buffer, start, end)).map_err(|what| failed(&what))?;
        match rest {
            Some(length) => self.take(part(&buffer, start, start + length), path, &mut is_header),
            None => Ok(()),
        }
    }

    fn take(&mut self, record: &[u8], path: &Path, is_header: &mut bool) -> Result<(), Stopped> {
        if std::mem::take(is_header) {
            return self.take_header(record, path);
        }
        let Self { input: Input { keys, carried, .. }, batch, others, .. } = self;
        let pushed = match keys {
            None => batch.push(
                |key| {
                    key.extend_from_slice(record);
                    Ok(())
                },
                &[],
            ),
            Some(keys) => others_of(keys, *carried, record, others).and_then(|carried| {
                let write = |key: &mut Vec<u8>| {
                    let mut writer = KeyWriter::new(std::mem::take(key));
                    let written = keys.write(record, &mut writer);
                    *key = writer.into_bytes();
                    written
                };
                batch.push(write, carried)
            }),
        };
        pushed.map_err(|what| Some(CliError::failed(format!("{}: {what}", path.display()))))?;
        self.batch.input_bytes += record.len() as u64 + 1;
        if self.batch.len() >= self.input.batch_bytes { self.send() } else { Ok(()) }
    }

    fn take_header(&mut self, record: &[u8], path: &Path) -> Result<(), Stopped> {
        match &self.header {
            None => {
                self.header = Some(record.to_vec());
                let Self { input: Input { keys, carried, .. }, others, .. } = self;
                let header = match keys {
                    Some(keys) => others_of(keys, *carried, record, others)
                        .map_err(|what| Some(CliError::failed(what)))?,
                    None => record,
                };
                self.sender.send(Message::Header(header.to_vec())).map_err(|_| None)
            }
            Some(header) if header == record => Ok(()),
            Some(_) => Err(Some(CliError::failed(format!(
                "{}: its header is not that of the first file; --no-header takes headers for records",
                path.display()
            )))),
        }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        let next = self.spare.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.batch, next);
        self.sender.send(Message::Rows(full)).map_err(|_| None)
    }
}

/// What goes with the key of a record.
fn others_of<'a>(
    keys: &Keys,
    carried: Carried,
    record: &'a [u8],
    others: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    match carried {
        Carried::Record => Ok(record),
        Carried::OtherFields => {
            others.clear();
            keys.write_others(record, others)?;
            Ok(others)
        }
    }
}

fn part(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}
