use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::format::{Event, Format, Parser};
use crate::lines::{Lines, without_mark};
use crate::{Record, TraceError};

/// How much of a bad line an error shows.
const SHOWN_CHARS: usize = 120;
/// How many devices an error names.
const OTHERS_SHOWN: usize = 8;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a trace is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; `None` recognises it by the first line.
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
/// The file may be compressed by zstd. Memory doesn't depend on its size.
pub struct Reader {
    path: PathBuf,
    format: Format,
    tells_latencies: bool,
    lines: Lines,
    parser: Box<dyn Parser>,
    devices: Devices,
    skip_bad: bool,
    bad_lines: u64,
    /// Events of the device.
    events: u64,
    /// Whether the beginning is that of the format.
    is_recognised: bool,
    start_us: Option<u64>,
    failed: bool,
}

impl Reader {
    /// Opens a trace; `-` is standard input.
    ///
    /// # Errors
    /// The file can't be read, no format fits it or another than the named one does, a device is chosen where there are
    /// none, or its format takes two passes and it is standard input.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, TraceError> {
        let mut source = source(path)?;
        let Beginning { format, is_recognised, tells_latencies } =
            beginning(path, &mut source, options.format)?;
        if options.device.is_some() && !format.names_devices() {
            return Err(TraceError::NoDevices { path: path.into(), format });
        }
        let mut parser = format.parser();
        if parser.surveys() {
            if path == Path::new("-") {
                return Err(TraceError::TwoPasses);
            }
            survey(path, source, &mut *parser)?;
            source = self::source(path)?;
        }
        Ok(Self {
            path: path.into(),
            format,
            tells_latencies,
            lines: Lines::new(source),
            parser,
            devices: match options.device.clone() {
                Some(device) => Devices::Chosen { device, others: Vec::new() },
                None => Devices::Single(None),
            },
            skip_bad: options.skip_bad,
            bad_lines: 0,
            events: 0,
            is_recognised,
            start_us: None,
            failed: false,
        })
    }

    /// The format it is read in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether events have latencies; single ones may lack it all the same.
    pub fn tells_latencies(&self) -> bool {
        self.tells_latencies
    }

    /// How many damaged lines were passed over.
    pub fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// The next event, `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, TraceError> {
        let mut lines = 0;
        loop {
            let next = self.lines.next().map_err(|source| reading(&self.path, source))?;
            let Some((line, text, whole)) = next else { return self.at_the_end(lines).map(|()| None) };
            debug_assert!(line > lines, "line {line} comes after line {lines}");
            lines = line;
            let parsed = if whole {
                parsed(&mut *self.parser, text)
            } else {
                Err("a line of text was expected, and this is none or far too long".into())
            };
            match parsed {
                Ok(None) => {}
                Ok(Some(event)) => {
                    if let Some(record) = self.of_the_device(line, event)? {
                        self.events += 1;
                        return Ok(Some(self.timed(record)));
                    }
                }
                Err(_) if self.skip_bad => self.bad_lines += 1,
                Err(complaint) => {
                    let text = text.chars().take(SHOWN_CHARS).collect();
                    return Err(TraceError::BadLine { path: self.path.clone(), line, complaint, text });
                }
            }
        }
    }

    /// A trace without events is one, when it is known to be one.
    fn at_the_end(&self, lines: u64) -> Result<(), TraceError> {
        if self.events > 0 {
            return Ok(());
        }
        match &self.devices {
            Devices::Chosen { device, others } => {
                let others = if others.is_empty() { "none at all".into() } else { others.join(" ") };
                Err(TraceError::NoSuchDevice { path: self.path.clone(), device: device.clone(), others })
            }
            Devices::Single(_) if self.is_recognised || lines == 0 => Ok(()),
            Devices::Single(_) => {
                Err(TraceError::NoEvents { path: self.path.clone(), format: self.format, lines })
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

fn reading(path: &Path, source: io::Error) -> TraceError {
    // Only the decompression knows where a file should end.
    if source.kind() == io::ErrorKind::UnexpectedEof {
        return TraceError::CutOff { path: path.into() };
    }
    TraceError::File { action: "reading the trace", path: path.into(), source }
}

/// The text of a file, decompressed where it is compressed.
fn source(path: &Path) -> Result<Box<dyn BufRead>, TraceError> {
    let raw: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|source| reading(path, source))?)
    };
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    let beginning = raw.fill_buf().map_err(|source| reading(path, source))?;
    if !beginning.starts_with(&ZSTD_MAGIC) {
        return Ok(Box::new(raw));
    }
    let decoder = zstd::Decoder::with_buffer(raw).map_err(|source| reading(path, source))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, decoder)))
}

/// What a trace's first line says of it.
struct Beginning {
    format: Format,
    /// Whether the line is one of that format.
    is_recognised: bool,
    tells_latencies: bool,
}

/// Looks at the beginning without taking it.
fn beginning(
    path: &Path,
    source: &mut Box<dyn BufRead>,
    named: Option<Format>,
) -> Result<Beginning, TraceError> {
    let beginning = source.fill_buf().map_err(|source| reading(path, source))?;
    if beginning.is_empty() {
        return Err(TraceError::Empty { path: path.into() });
    }
    let beginning = String::from_utf8_lossy(beginning);
    let first_line =
        without_mark(&beginning).lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let (format, is_recognised) = match (named, Format::of(first_line)) {
        (Some(named), Some(found)) if named != found => {
            return Err(TraceError::OtherFormat { path: path.into(), named, found });
        }
        (Some(named), found) => (named, found.is_some()),
        (None, Some(found)) => (found, true),
        (None, None) => {
            return Err(TraceError::Unknown { path: path.into(), first_line: shown(first_line) });
        }
    };
    Ok(Beginning { format, is_recognised, tells_latencies: format.tells_latencies(first_line) })
}

/// As much of a line as tells what it is: of one that is no text, hardly more than its first bytes.
fn shown(line: &str) -> String {
    const BINARY_CHARS: usize = 16;
    let is_text =
        |letter: char| !letter.is_control() && letter != char::REPLACEMENT_CHARACTER || letter == '\t';
    let most = if line.chars().take(SHOWN_CHARS).all(is_text) { SHOWN_CHARS } else { BINARY_CHARS };
    let mut shown: String = line.chars().take(most).collect();
    if line.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

fn survey(path: &Path, source: Box<dyn BufRead>, parser: &mut dyn Parser) -> Result<(), TraceError> {
    let mut lines = Lines::new(source);
    while let Some((_, line, whole)) = lines.next().map_err(|source| reading(path, source))? {
        if whole {
            parser.survey(line);
        }
    }
    Ok(())
}
