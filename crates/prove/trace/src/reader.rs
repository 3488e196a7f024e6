use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::detect::{DetectedFormat, SHOWN_CHARS, recognise};
use crate::format::{Event, Format, Parser};
use crate::lines::Lines;
use crate::source::{self, Source, reading};
use crate::{BackwardTimes, Operation, Record, TraceError};

/// Maximum number of devices in an error.
const OTHERS_SHOWN: usize = 8;

/// Options for reading a trace.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Format; `None` detects it from the first lines.
    pub format: Option<Format>,
    /// Device whose events are read, in the notation of the format (`8,16`; `hm.1`). `None`
    /// requires that the trace has a single device.
    pub device: Option<String>,
    /// Counts damaged lines instead of failing at the first.
    pub skip_bad: bool,
}

/// Selection of devices.
enum Devices {
    /// Events of one device. Some of the others are remembered for an error.
    Chosen { device: String, others: Vec<String> },
    /// Events of the first device, `None` before the first event. Other devices are an error.
    Single(Option<String>),
}

/// Iterator over the events of a trace.
///
/// The file may be compressed by zstd or gzip. Memory use is independent of its size. Times count
/// from the first event. A durable write (forced unit access) is followed by a sync of its extent.
/// A write that flushes the device first is preceded by a sync.
pub struct Reader {
    path: PathBuf,
    beginning: DetectedFormat,
    decompressor: Option<&'static str>,
    lines: Lines,
    /// Number of the last line read.
    line: u64,
    has_ended: bool,
    /// Records ready to be returned.
    ready: VecDeque<Record>,
    parser: Box<dyn Parser>,
    devices: Devices,
    skip_bad: bool,
    bad_lines: u64,
    /// Events of the selected device.
    events: u64,
    start_us: Option<u64>,
    backward_times: BackwardTimes,
    failed: bool,
}

impl Reader {
    /// Opens a trace; `-` is standard input.
    ///
    /// # Errors
    ///
    /// The file can't be read; its format is unknown or differs from the named one; a device is
    /// selected, but the format names none; or the format takes two passes, and the trace is on
    /// standard input.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, TraceError> {
        let mut source = source::open(path)?;
        if source.beginning.is_empty() {
            return Err(TraceError::Empty { path: path.into() });
        }
        let beginning = recognise(path, &source, options.format)?;
        let format = beginning.format;
        if options.device.is_some() && !format.names_devices() {
            return Err(TraceError::NoDevices { path: path.into(), format });
        }
        let mut parser = format.parser();
        if parser.surveys() {
            if path == Path::new("-") {
                return Err(TraceError::TwoPasses);
            }
            survey(path, source, &mut *parser)?;
            source = source::open(path)?;
        }
        Ok(Self {
            path: path.into(),
            beginning,
            decompressor: source.decompressor,
            lines: Lines::new(source.text),
            line: 0,
            has_ended: false,
            ready: VecDeque::new(),
            parser,
            devices: match options.device.clone() {
                Some(device) => Devices::Chosen { device, others: Vec::new() },
                None => Devices::Single(None),
            },
            skip_bad: options.skip_bad,
            bad_lines: 0,
            events: 0,
            start_us: None,
            backward_times: BackwardTimes::default(),
            failed: false,
        })
    }

    /// Format of the trace.
    pub fn format(&self) -> Format {
        self.beginning.format
    }

    /// Returns true if the trace has latencies. Single events may still lack them.
    pub fn has_latencies(&self) -> bool {
        self.beginning.has_latencies
    }

    /// Damaged lines skipped so far.
    pub fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// Lines skipped before the first event, except blank lines, comments and known headers.
    pub fn lines_before(&self) -> u64 {
        self.beginning.lines_before
    }

    /// Returns true if only the shape of bare columns suggests the format, so that it may be wrong.
    pub fn is_guessed(&self) -> bool {
        self.beginning.is_guessed
    }

    /// Events so far whose times go backwards.
    pub fn backward_times(&self) -> BackwardTimes {
        self.backward_times
    }

    /// Returns the next event, or `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Ok(Some(record));
            }
            if let Some(event) = self.parser.take_held() {
                self.take(event)?;
            } else if self.has_ended {
                return self.at_the_end().map(|()| None);
            } else {
                self.read_line()?;
            }
        }
    }

    fn read_line(&mut self) -> Result<(), TraceError> {
        let next = self.lines.next().map_err(|source| reading(&self.path, self.decompressor, source))?;
        let Some((line, text, whole)) = next else {
            self.has_ended = true;
            self.parser.end();
            return Ok(());
        };
        debug_assert!(line > self.line, "line {line} comes after line {}", self.line);
        self.line = line;
        // Skip lines before the first event.
        if line < self.beginning.first_line {
            return Ok(());
        }
        let parsed = if whole {
            parse_event(&mut *self.parser, text)
        } else {
            Err("expected a line of text, but this line is binary or too long".into())
        };
        match parsed {
            Ok(None) => Ok(()),
            Ok(Some(event)) => self.take(event),
            Err(_) if self.skip_bad => {
                self.bad_lines += 1;
                Ok(())
            }
            Err(complaint) => {
                let text = text.chars().take(SHOWN_CHARS).collect();
                Err(TraceError::BadLine { path: self.path.clone(), line, complaint, text })
            }
        }
    }

    /// Adds an event if it belongs to the selected device.
    fn take(&mut self, event: Event) -> Result<(), TraceError> {
        let (flushes_before, is_durable) = (event.flushes_before, event.is_durable);
        let Some(record) = self.of_selected_device(self.line, event)? else { return Ok(()) };
        let record = self.timed(record);
        self.events += 1;
        let sync = Record { operation: Operation::Sync, latency_ns: None, ..record };
        let before = Record { address: 0, length_bytes: 0, ..sync };
        self.ready.extend(flushes_before.then_some(before));
        self.ready.push_back(record);
        self.ready.extend(is_durable.then_some(sync));
        Ok(())
    }

    /// Checks at the end that the trace had events, unless its format was certain.
    fn at_the_end(&self) -> Result<(), TraceError> {
        let lines = self.line;
        if self.events > 0 {
            return Ok(());
        }
        match &self.devices {
            Devices::Chosen { device, others } => {
                let others = if others.is_empty() { "none at all".into() } else { others.join(" ") };
                Err(TraceError::NoSuchDevice { path: self.path.clone(), device: device.clone(), others })
            }
            Devices::Single(_) if self.beginning.is_recognised || lines == 0 => Ok(()),
            Devices::Single(_) => {
                Err(TraceError::NoEvents { path: self.path.clone(), format: self.beginning.format, lines })
            }
        }
    }

    fn of_selected_device(&mut self, line: u64, event: Event) -> Result<Option<Record>, TraceError> {
        let Some(other) = event.device else { return Ok(Some(event.record)) };
        match &mut self.devices {
            Devices::Single(Some(device)) | Devices::Chosen { device, .. } if *device == other => {}
            Devices::Single(first @ None) => *first = Some(other),
            Devices::Single(Some(device)) => {
                let (path, device) = (self.path.clone(), device.clone());
                return Err(TraceError::SeveralDevices { path, line, device, other });
            }
            Devices::Chosen { others, .. } => {
                if others.len() < OTHERS_SHOWN && !others.contains(&other) {
                    others.push(other);
                }
                return Ok(None);
            }
        }
        Ok(Some(event.record))
    }

    /// Returns the record with its time counted from the start of the trace.
    fn timed(&mut self, mut record: Record) -> Record {
        self.backward_times.add(self.line, record.time_us);
        if self.parser.has_absolute_times() {
            record.time_us = record.time_us.saturating_sub(*self.start_us.get_or_insert(record.time_us));
        }
        record
    }
}

impl Iterator for Reader {
    type Item = Result<Record, TraceError>;

    /// Returns the next event. After an error, iteration ends.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.read().transpose();
        debug_assert!(self.bad_lines == 0 || self.skip_bad, "the first bad line ends the trace");
        self.failed = matches!(next, Some(Err(_)));
        debug_assert!(
            !matches!(&next, Some(Ok(record)) if record.complaint().is_some()),
            "what can't be is told as a bad line: {next:?}"
        );
        next
    }
}

/// Parses a line and checks the event.
fn parse_event(parser: &mut dyn Parser, text: &str) -> Result<Option<Event>, String> {
    let event = parser.parse(text)?;
    match event.as_ref().and_then(|event| event.record.complaint()) {
        Some(complaint) => Err(complaint),
        None => Ok(event),
    }
}

fn survey(path: &Path, source: Source, parser: &mut dyn Parser) -> Result<(), TraceError> {
    let decompressor = source.decompressor;
    let mut lines = Lines::new(source.text);
    while let Some((_, line, whole)) = lines.next().map_err(|source| reading(path, decompressor, source))? {
        if whole {
            parser.survey(line);
        }
    }
    Ok(())
}
