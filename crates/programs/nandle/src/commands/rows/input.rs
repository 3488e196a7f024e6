//! Input thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use nandle_session::Cancel;
use nandle_spill::{Row, SpillError};

use super::batch::Batch;
use super::blocks::{Block, Blocks};
use super::key::Keys;
use super::maker::{Carried, Maker};
use super::records::Format;
use super::{RecordLimit, Stop, interrupted, spilled};
use crate::error::CliError;

/// Input files and their conversion to rows.
pub(crate) struct Input {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) format: Format,
    /// The first record of each file is a header.
    pub(crate) has_header: bool,
    /// `None`: the whole record is the key.
    pub(crate) keys: Option<Keys>,
    pub(crate) carried: Carried,
    /// Bytes passed on at once.
    pub(crate) batch_bytes: usize,
    /// Longer records are an error.
    pub(crate) record_limit: RecordLimit,
}

/// Interval between checks for Ctrl-C while no input arrives.
const PATIENCE: Duration = Duration::from_millis(100);
/// Batches in flight at most.
pub(crate) const BATCHES: usize = 3;

/// Message of the input thread.
enum Arrival<T> {
    Part(T),
    /// End of input. Without it the input is incomplete.
    End,
    Failed(CliError),
}

/// Receiving end of the thread.
struct Incoming<T> {
    parts: Receiver<Arrival<T>>,
    /// Returns used parts to the thread.
    used: Sender<T>,
    cancel: Cancel,
    stop: Arc<Stop>,
}

impl<T: Send + 'static> Incoming<T> {
    /// Starts a thread that produces parts until there are none, reusing returned ones. After a
    /// part that `is_long` it waits for the part's return, so that memory holds only one.
    fn start<M: FnMut(Option<T>) -> Result<Option<T>, CliError>>(
        (cancel, stop): (Cancel, Arc<Stop>),
        is_long: impl Fn(&T) -> bool + Send + 'static,
        maker: impl FnOnce() -> M + Send + 'static,
    ) -> Result<Self, CliError> {
        let (sender, parts) = sync_channel(BATCHES - 1);
        let (used, spare) = channel();
        let reading = move || {
            let mut make = maker();
            // If the receiver is gone, the rest isn't wanted.
            let mut used = None;
            loop {
                let part = match make(used.take().or_else(|| spare.try_recv().ok())) {
                    Ok(Some(part)) => Arrival::Part(part),
                    Ok(None) => Arrival::End,
                    Err(error) => Arrival::Failed(error),
                };
                let is_last = !matches!(part, Arrival::Part(_));
                let waits = matches!(&part, Arrival::Part(part) if is_long(part));
                if send(&sender, part).is_none() || is_last {
                    return;
                }
                if waits {
                    used = spare.iter().find(&is_long);
                    if used.is_none() {
                        return;
                    }
                }
            }
        };
        let spawned = thread::Builder::new().name("nandle-input".into()).spawn(reading);
        spawned.map_err(|error| CliError::failed(format!("starting a thread to read: {error}")))?;
        Ok(Self { parts, used, cancel, stop })
    }

    /// Next part; `None` at the end.
    fn next(&self) -> Result<Option<T>, CliError> {
        loop {
            self.stop.check()?;
            if self.cancel.is_cancelled() {
                return Err(interrupted());
            }
            return match self.parts.recv_timeout(PATIENCE) {
                Ok(Arrival::Part(part)) => Ok(Some(part)),
                Ok(Arrival::End) => Ok(None),
                Ok(Arrival::Failed(error)) => Err(error),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    Err(CliError::failed("reading: the thread that read ended before its input did"))
                }
            };
        }
    }

    fn give_back(&self, part: T) {
        // Fails if the thread has read everything and ended.
        _ = self.used.send(part);
    }
}

/// Returns true if a buffer has grown so far beyond `batch_bytes` that it must hold a long record.
fn is_longer_than(batch_bytes: usize) -> impl Fn(usize) -> bool + Copy + Send + 'static {
    move |memory_bytes| memory_bytes > 8 * batch_bytes
}

fn send<T>(sender: &SyncSender<Arrival<T>>, part: Arrival<T>) -> Option<()> {
    sender.send(part).ok()
}

impl Input {
    /// Total bytes of all files, if known.
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

    /// Starts reading. The reading thread makes the rows.
    pub(crate) fn start(self, cancel: Cancel) -> Result<Batches, CliError> {
        let is_long = is_longer_than(self.batch_bytes);
        let batches = move || {
            let maker = Maker::new(self.keys, self.carried, self.has_header);
            let blocks = Blocks::new(self.files, self.format, self.batch_bytes, self.record_limit);
            batches_of(blocks, maker, is_long)
        };
        let is_long = move |batch: &Batch| is_long(batch.memory_bytes());
        Ok(Batches { incoming: Incoming::start((cancel, Arc::default()), is_long, batches)? })
    }

    /// Starts reading. The consumer makes the rows.
    pub(crate) fn source(self, cancel: Cancel, stop: Arc<Stop>) -> Result<Source, CliError> {
        let is_long = is_longer_than(self.batch_bytes);
        let is_long = move |block: &Block| is_long(block.memory_bytes());
        let maker = Maker::new(self.keys, self.carried, self.has_header);
        let blocks = move || {
            let mut blocks = Blocks::new(self.files, self.format, self.batch_bytes, self.record_limit);
            move |block: Option<Block>| blocks.next(block.map(Block::into_bytes).unwrap_or_default())
        };
        let incoming = Incoming::start((cancel, stop), is_long, blocks)?;
        Ok(Source { incoming, maker, block: None, at: 0, taken_bytes: 0, is_at_end: false })
    }
}

/// Converts each block to a batch.
fn batches_of(
    mut blocks: Blocks,
    mut maker: Maker,
    is_long: impl Fn(usize) -> bool,
) -> impl FnMut(Option<Batch>) -> Result<Option<Batch>, CliError> {
    let (mut memory, mut has_sent_header) = (Vec::new(), false);
    move |batch: Option<Batch>| {
        let Some(block) = blocks.next(std::mem::take(&mut memory))? else { return Ok(None) };
        let mut batch = batch.filter(|batch| !is_long(batch.memory_bytes())).unwrap_or_default();
        batch.clear();
        let mut at = 0;
        while let Some((row, next)) = maker.row(&block, at)? {
            batch.push(row)?;
            at = next;
        }
        batch.input_bytes = block.len() as u64;
        if !std::mem::replace(&mut has_sent_header, true) {
            batch.header = maker.header()?;
        }
        memory = block.into_bytes();
        Ok(Some(batch))
    }
}

/// Batches of rows.
pub(crate) struct Batches {
    incoming: Incoming<Batch>,
}

impl Batches {
    /// Next batch; `None` at the end.
    pub(crate) fn next(&self) -> Result<Option<Batch>, CliError> {
        self.incoming.next()
    }

    pub(crate) fn give_back(&self, batch: Batch) {
        self.incoming.give_back(batch);
    }
}

/// Rows one after the other, for one thread or for several in turns.
pub(crate) struct Source {
    incoming: Incoming<Block>,
    maker: Maker,
    block: Option<Block>,
    /// Offset of its next record.
    at: usize,
    /// Bytes of consumed input.
    pub(crate) taken_bytes: u64,
    is_at_end: bool,
}

impl Source {
    /// Passes rows on until one isn't taken; that one comes first next time. Returns false if there
    /// are no more.
    pub(crate) fn hand_over(
        &mut self,
        mut take: impl FnMut(Row<'_>) -> Result<bool, SpillError>,
    ) -> Result<bool, CliError> {
        while self.has_more()? {
            let Some(block) = &self.block else { break };
            while let Some((row, next)) = self.maker.row(block, self.at)? {
                if !take(row).map_err(spilled)? {
                    return Ok(true);
                }
                self.at = next;
            }
            self.taken_bytes += block.len() as u64;
            if let Some(block) = self.block.take() {
                self.incoming.give_back(block);
            }
        }
        Ok(false)
    }

    /// Returns true if there may be another row. Waits for more input.
    pub(crate) fn has_more(&mut self) -> Result<bool, CliError> {
        if self.block.is_none() && !self.is_at_end {
            // Nothing follows an error.
            self.is_at_end = true;
            self.block = self.incoming.next()?;
            self.at = 0;
            self.is_at_end = self.block.is_none();
        }
        Ok(!self.is_at_end)
    }

    /// Header, if there is one and it has arrived.
    pub(crate) fn header(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        self.maker.header()
    }
}
