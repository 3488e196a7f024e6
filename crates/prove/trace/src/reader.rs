use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::detect::{Beginning, SHOWN_CHARS, recognise};
use crate::format::{Event, Format, Parser};
use crate::lines::Lines;
use crate::source::{self, Source, reading};
use crate::{Operation, Record, TimesBack, TraceError};

/// How many devices an error names.
const OTHERS_SHOWN: usize = 8;

/// How a trace is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; `None` recognises it by the first lines.
    pub format: Option<Format>,
    /// Events of this device only, in the format's own words (`8,16`; `hm.1`); `None` expects a single device.
    pub device: Option<String>,
    /// Counts damaged lines instead of ending at the first.
    pub skip_bad: bool,
}

/// Whose events are taken.
enum Devices {
    /// This one's. The others are passed over; no more of them are kept than an error names.
    Chosen { device: String, others: Vec<String> },
    /// The first one's, `None` until there is an event, and others are an error.
    Single(Option<String>),
}

/// The events of a trace, one after the other.
///
/// The file may be compressed by zstd or gzip. Memory doesn't depend on its size. Times count from the first event. A write that is durable
/// when it completes (forced unit access) has a sync of its extent behind it, and one before which the device is flushed a sync before it.
pub struct Reader {
    path: PathBuf,
    beginning: Beginning,
    decompressor: Option<&'static str>,
    lines: Lines,
    /// Number of the last line that was read.
    line: u64,
    has_ended: bool,
    /// Records of an event that was read.
    ready: VecDeque<Record>,
    parser: Box<dyn Parser>,
    devices: Devices,
    skip_bad: bool,
    bad_lines: u64,
    /// Events of the device.
    events: u64,
    start_us: Option<u64>,
    times_back: TimesBack,
    failed: bool,
}

impl Reader {
    /// Opens a trace; `-` is standard input.
    ///
    /// # Errors
    /// The file can't be read, no format fits it or another than the named one does, a device is chosen where there are
    /// none, or its format takes two passes and it is standard input.
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
            times_back: TimesBack::default(),
            failed: false,
        })
    }

    /// The format it is read in.
    pub fn format(&self) -> Format {
        self.beginning.format
    }

    /// Whether events have latencies; single ones may lack it all the same.
    pub fn tells_latencies(&self) -> bool {
        self.beginning.tells_latencies
    }

    /// How many damaged lines were passed over.
    pub fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// How many lines before the first event were passed over, blank ones, comments and known headers apart.
    pub fn lines_before(&self) -> u64 {
        self.beginning.lines_before
    }

    /// Whether the format was recognised by the shape of bare columns of numbers, which may mean something else.
    pub fn is_guessed(&self) -> bool {
        self.beginning.is_guessed
    }

    /// Events whose times go back, so far.
    pub fn times_back(&self) -> TimesBack {
        self.times_back
    }

    /// The next event, `None` at the end.
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
        // Text before the first event.
        if line < self.beginning.first_line {
            return Ok(());
        }
        let parsed = if whole {
            parsed(&mut *self.parser, text)
        } else {
            Err("a line of text was expected, and this is none or far too long".into())
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

    /// Takes an event, if it is one of the device.
    fn take(&mut self, event: Event) -> Result<(), TraceError> {
        let (flushes_before, is_durable) = (event.flushes_before, event.is_durable);
        let Some(record) = self.of_the_device(self.line, event)? else { return Ok(()) };
        let record = self.timed(record);
        self.events += 1;
        let sync = Record { operation: Operation::Sync, latency_ns: None, ..record };
        let before = Record { address: 0, length_bytes: 0, ..sync };
        self.ready.extend(flushes_before.then_some(before));
        self.ready.push_back(record);
        self.ready.extend(is_durable.then_some(sync));
        Ok(())
    }

    /// A trace without events is one, when it is known to be one.
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

    fn of_the_device(&mut self, line: u64, event: Event) -> Result<Option<Record>, TraceError> {
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

    /// The event with its time counted from the trace's start.
    fn timed(&mut self, mut record: Record) -> Record {
        self.times_back.add(self.line, record.time_us);
        if self.parser.has_absolute_times() {
            record.time_us = record.time_us.saturating_sub(*self.start_us.get_or_insert(record.time_us));
        }
        record
    }
}

impl Iterator for Reader {
    type Item = Result<Record, TraceError>;

    /// The next event; nothing comes after an error.
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

/// What a line says, if that can be.
fn parsed(parser: &mut dyn Parser, text: &str) -> Result<Option<Event>, String> {
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
