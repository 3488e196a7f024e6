use std::fs::File;
use std::io::{BufRead as _, BufReader, Chain, Cursor, Read, Take};
use std::path::{Path, PathBuf};

use zstd::stream::read::Decoder;

use super::format::{FileLine, Line, RECORDING_VERSION, StepLine, WINDOW_LOG_MAX};
use super::rules::{FILE_BYTES_MAX, LINE_BYTES_MAX, Rules, UNPACKED_BYTES_MAX};
use super::{QueryTotals, RecordedFile, RecordedQuery, Recording, RecordingError, Violation};
use crate::{FileId, Groups, Want};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Decoder of a file; its magic number has been checked.
type Frame<S> = Decoder<'static, BufReader<Chain<Cursor<Vec<u8>>, Take<S>>>>;

impl Recording {
    /// Reads a file, within the limits of recordings.
    ///
    /// # Errors
    /// The file can't be read, isn't a recording of a supported version, is truncated or damaged,
    /// or breaks a rule.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > FILE_BYTES_MAX {
            return Err(no_recording(path, "it has more than 256 MiB, which no recording has"));
        }
        Self::from_reader(file, path)
    }

    /// Reads a recording from `source`; errors report `name` as its path.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_reader(source: impl Read, name: &Path) -> Result<Self, RecordingError> {
        let lines = Lines::of(source, name)?;
        Reading { lines, rules: Rules::default(), recording: Self::default() }.all()
    }

    /// Returns true if `start`, the first 256 KiB or all of a file, is the beginning of a recording
    /// of any version.
    pub fn begins(start: &[u8]) -> bool {
        let lines = Lines::of(start, Path::new(""));
        lines.and_then(|mut lines| lines.next()).is_ok_and(|line| matches!(line, Some(Line::NandleNeeds(_))))
    }
}

fn no_recording(path: &Path, why: &str) -> RecordingError {
    RecordingError::NoRecording { path: path.to_owned(), why: why.to_owned() }
}

/// Lines of a file, one in memory at a time.
struct Lines<S: Read> {
    source: BufReader<Frame<S>>,
    path: PathBuf,
    /// Number of the line in `text`.
    line: u64,
    /// Length of all lines so far.
    unpacked_bytes: u64,
    /// Checksum of all lines before the one in `text`.
    crc32c: u32,
    text: Vec<u8>,
}

impl<S: Read> Lines<S> {
    /// Opens `source`; errors report `name` as its path.
    fn of(source: S, name: &Path) -> Result<Self, RecordingError> {
        let no_recording = |error: std::io::Error| no_recording(name, &error.to_string());
        let mut source = source.take(FILE_BYTES_MAX);
        let mut magic = Vec::new();
        source.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic).map_err(no_recording)?;
        if !ZSTD_MAGIC.starts_with(&magic) {
            return Err(self::no_recording(name, "it isn't a frame of zstd"));
        }
        let frame = Decoder::new(Cursor::new(magic).chain(source)).map_err(no_recording)?;
        let mut frame = frame.single_frame();
        frame.window_log_max(WINDOW_LOG_MAX).map_err(no_recording)?;
        let source = BufReader::new(frame);
        let path = name.to_owned();
        Ok(Self { source, path, line: 0, unpacked_bytes: 0, crc32c: 0, text: Vec::new() })
    }

    /// Returns the next line; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Line>, RecordingError> {
        self.crc32c = nandle_units::extend_checksum(self.crc32c, &self.text);
        self.text.clear();
        self.line += 1;
        let mut source = self.source.by_ref().take(LINE_BYTES_MAX);
        let read = source.read_until(b'\n', &mut self.text);
        match read {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) if self.line == 1 => return Err(no_recording(&self.path, &error.to_string())),
            Err(error) => return Err(self.damaged(error.to_string())),
            Ok(0) => return Ok(None),
            Ok(bytes) => self.unpacked_bytes += bytes as u64,
        }
        if !self.text.ends_with(b"\n") && self.text.len() as u64 == LINE_BYTES_MAX {
            return Err(
                self.damaged(format!("it has more than {LINE_BYTES_MAX} bytes, which no line may have"))
            );
        }
        if self.unpacked_bytes > UNPACKED_BYTES_MAX {
            return Err(self.damaged(format!(
                "it unpacks to more than {UNPACKED_BYTES_MAX} bytes, which no recording does"
            )));
        }
        match serde_json::from_slice(&self.text) {
            Ok(line) => Ok(Some(line)),
            Err(error) if self.line == 1 => {
                Err(no_recording(&self.path, &format!("its first line isn't `nandle_needs` ({error})")))
            }
            Err(error) => Err(self.damaged(error.to_string())),
        }
    }

    fn damaged(&self, why: String) -> RecordingError {
        RecordingError::Damaged { path: self.path.clone(), line: self.line, why }
    }
}

/// A recording while it is read.
struct Reading<S: Read> {
    lines: Lines<S>,
    rules: Rules,
    recording: Recording,
}

impl<S: Read> Reading<S> {
    fn all(mut self) -> Result<Recording, RecordingError> {
        self.begin()?;
        loop {
            let Some(line) = self.lines.next()? else {
                let (path, lines) = (self.lines.path, self.lines.line - 1);
                return Err(RecordingError::Cut { path, lines, counts: self.rules.counts() });
            };
            if let Line::End(end) = line {
                return self.end(&end);
            }
            self.take(line)?.map_err(|violation| self.broken(violation))?;
        }
    }

    fn begin(&mut self) -> Result<(), RecordingError> {
        let path = self.lines.path.clone();
        match self.lines.next()? {
            Some(Line::NandleNeeds(header)) if !(1..=RECORDING_VERSION).contains(&header.version) => {
                Err(RecordingError::Version { path, found: header.version })
            }
            Some(Line::NandleNeeds(header)) => match header.unknown.keys().next() {
                Some(key) => {
                    Err(self.lines.damaged(format!("`nandle_needs` has the key `{key}`, which isn't known")))
                }
                None => Ok(()),
            },
            Some(_) => Err(no_recording(&path, "its first line isn't `nandle_needs`")),
            None => Err(no_recording(&path, "it is empty, or cut off within its first line")),
        }
    }

    fn take(&mut self, line: Line) -> Result<Result<(), Violation>, RecordingError> {
        Ok(match line {
            Line::NandleNeeds(_) => return Err(self.lines.damaged("a second `nandle_needs`".to_owned())),
            // Unreachable: the loop stops at the end.
            Line::End(_) => return Err(self.lines.damaged("an `end` that isn't the last line".to_owned())),
            Line::File(file) => self.file(file),
            Line::Query(query) => self.rules.query(query.name.as_deref(), query.text.as_deref()).map(|()| {
                let query = RecordedQuery { name: query.name, text: query.text, ..RecordedQuery::default() };
                self.recording.queries.push(query);
            }),
            Line::Step(step) => self.step(&step),
            Line::Done(done) => self.rules.done([done.spilled_bytes, done.spill_read_bytes]).map(|()| {
                if let Some(query) = self.recording.queries.last_mut() {
                    query.totals = QueryTotals {
                        spilled_bytes: done.spilled_bytes,
                        spill_read_bytes: done.spill_read_bytes,
                        result_rows: done.result_rows,
                        took_ns: done.took_ns,
                    };
                }
            }),
        })
    }

    fn file(&mut self, line: FileLine) -> Result<(), Violation> {
        let FileLine { name, length_bytes, groups } = line;
        let groups = Groups::from(groups);
        self.rules.file(length_bytes, &groups, name.as_deref())?;
        self.recording.files.push(RecordedFile { name, length_bytes, groups });
        Ok(())
    }

    fn step(&mut self, line: &StepLine) -> Result<(), Violation> {
        let outside = Violation::OutsideQuery { what: "step" };
        let query = self.recording.queries.last_mut().ok_or(outside)?;
        let step = u32::try_from(query.cpu_after_ns.len()).unwrap_or(u32::MAX);
        let first = query.wants.len();
        query.wants.extend(line.wants.iter().map(|(file, offset_bytes, length_bytes)| Want {
            file: FileId(*file),
            offset_bytes: *offset_bytes,
            length_bytes: *length_bytes,
            step,
        }));
        query.cpu_after_ns.push(line.cpu_after_ns);
        self.rules.step(query.wants.get(first..).unwrap_or_default())
    }

    fn end(mut self, end: &super::format::EndLine) -> Result<Recording, RecordingError> {
        let (line, counts) = (self.lines.line, self.rules.counts());
        self.rules.end().map_err(|violation| self.broken(violation))?;
        if end.crc32c != self.lines.crc32c {
            let found = self.lines.crc32c;
            return Err(self
                .lines
                .damaged(format!("the lines' CRC32C is {found:08x}, and {:08x} was expected", end.crc32c)));
        }
        if end.counts != counts {
            return Err(self.lines.damaged(format!("it has {counts}, and {} were expected", end.counts)));
        }
        let mut rest = [0];
        match self.lines.source.read(&mut rest) {
            Ok(0) if self.lines.text.ends_with(b"\n") => self.nothing_follows(),
            Ok(_) => Err(self.lines.damaged("the line of the end isn't the last".to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(RecordingError::Cut { path: self.lines.path, lines: line, counts })
            }
            Err(error) => Err(self.lines.damaged(error.to_string())),
        }
    }

    /// Checks that frame and file end here.
    fn nothing_follows(self) -> Result<Recording, RecordingError> {
        let Self { lines, recording, .. } = self;
        let Lines { source, path, line, .. } = lines;
        let mut rest = [0];
        let why = match source.into_inner().finish().read(&mut rest) {
            Ok(0) => return Ok(recording),
            Ok(_) => "something is behind its frame of zstd".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(RecordingError::Damaged { path, line, why })
    }

    fn broken(&self, violation: Violation) -> RecordingError {
        RecordingError::Broken { path: self.lines.path.clone(), line: self.lines.line, violation }
    }
}
