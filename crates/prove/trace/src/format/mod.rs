//! The formats, a file each. A format turns a line into an event, or says what is wrong with the line.

mod blkparse;
mod csv;
mod disksim;
mod fio;
mod kernel;
mod msr;
mod perf;

use serde::{Deserialize, Serialize};

use crate::Record;

pub(crate) use csv::{HEADER as CSV_HEADER, HEADER_WITH_LATENCY as CSV_HEADER_WITH_LATENCY};
pub(crate) use fio::VERSION_3 as FIO_HEADER;
pub(crate) use kernel::request;

/// How a trace is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Ours: `time_us,op,address,length`, and `latency_ns` where it is known.
    Csv,
    /// What `blkparse` prints of a `blktrace`, in its default format.
    Blkparse,
    /// What `perf script` prints of the event `block:block_rq_issue`.
    PerfScript,
    /// fio's `write_iolog`, versions 2 and 3.
    FioIolog,
    /// The block traces of Microsoft Research, Cambridge.
    Msr,
    /// What `DiskSim` validates its disks with: requests of a real disk, with response times.
    #[serde(rename = "disksim")]
    DiskSim,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] =
        [Self::Csv, Self::Blkparse, Self::PerfScript, Self::FioIolog, Self::Msr, Self::DiskSim];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Blkparse => "blkparse",
            Self::PerfScript => "perf-script",
            Self::FioIolog => "fio-iolog",
            Self::Msr => "msr",
            Self::DiskSim => "disksim",
        }
    }

    /// What it is, for lists.
    pub fn description(self) -> &'static str {
        match self {
            Self::Csv => "a CSV with the header time_us,op,address,length[,latency_ns]",
            Self::Blkparse => "the text of blkparse",
            Self::PerfScript => "the text of perf script for block:block_rq_issue",
            Self::FioIolog => "an iolog of fio's, version 2 or 3",
            Self::Msr => "an MSR Cambridge CSV",
            Self::DiskSim => "a validation trace of DiskSim",
        }
    }

    /// Whether its events say which device they belong to.
    pub(crate) fn names_devices(self) -> bool {
        matches!(self, Self::Blkparse | Self::PerfScript | Self::Msr)
    }

    /// Whether a trace that begins with `line` tells how long its requests took.
    pub(crate) fn tells_latencies(self, line: &str) -> bool {
        match self {
            Self::Csv => csv::tells_latencies(line),
            Self::Msr | Self::DiskSim => true,
            // Those of tools that print when a request began, and no more.
            _ => false,
        }
    }

    pub(crate) fn list() -> String {
        Self::ALL.map(Self::description).join("; ")
    }

    /// The format of which `line`, the first that isn't empty, is the beginning.
    pub(crate) fn of(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| match format {
            Self::Csv => csv::begins(line),
            Self::Blkparse => blkparse::begins(line),
            Self::PerfScript => perf::begins(line),
            Self::FioIolog => fio::begins(line),
            Self::Msr => msr::begins(line),
            Self::DiskSim => disksim::begins(line),
        })
    }

    pub(crate) fn parser(self) -> Box<dyn Parser> {
        match self {
            Self::Csv => Box::new(csv::Csv),
            Self::Blkparse => Box::new(blkparse::Blkparse),
            Self::PerfScript => Box::new(perf::PerfScript),
            Self::FioIolog => Box::new(fio::Iolog::default()),
            Self::Msr => Box::new(msr::Msr),
            Self::DiskSim => Box::new(disksim::DiskSim::default()),
        }
    }
}

/// Turns lines into events.
pub(crate) trait Parser {
    /// What a line says; `None` when it says nothing of an event.
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String>;

    /// Whether all lines must be shown to [`survey`](Self::survey) before the first is parsed.
    fn surveys(&self) -> bool {
        false
    }

    /// Looks at a line of the first pass; what is wrong with it is said in the second.
    fn survey(&mut self, _line: &str) {}

    /// Whether times count from some far past, so that the first event's is to be the start.
    fn has_absolute_times(&self) -> bool {
        false
    }
}

/// An event, and the device it belongs to where the format has several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) record: Record,
    pub(crate) device: Option<String>,
}

impl From<Record> for Event {
    fn from(record: Record) -> Self {
        Self { record, device: None }
    }
}

/// A whole number, or what was expected instead.
pub(crate) fn number(text: Option<&str>, what: &str) -> Result<u64, String> {
    let text = text.ok_or_else(|| format!("{what} is missing"))?.trim();
    text.parse().map_err(|_| format!("{what} should be a whole number and is {text:?}"))
}

/// Seconds with up to nine decimals, in microseconds.
pub(crate) fn seconds(text: Option<&str>) -> Result<u64, String> {
    let text = text.ok_or("the time is missing")?;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let wrong = || format!("the time should be seconds with decimals and is {text:?}");
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    if part.len() > 9 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let part: u64 = format!("{part:0<9}").parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000).and_then(|whole| whole.checked_add(part / 1000)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds(Some("1.000001234")), Ok(1_000_001));
        assert_eq!(seconds(Some("11427.11")), Ok(11_427_110_000));
        assert_eq!(seconds(Some("7")), Ok(7_000_000));
        assert!(seconds(Some("1.x")).is_err() && seconds(Some("")).is_err() && seconds(None).is_err());
    }

    #[test]
    fn each_format_is_recognised_by_its_first_line() {
        let lines = [
            ("time_us,op,address,length", Format::Csv),
            ("time_us,op,address,length,latency_ns", Format::Csv),
            ("  8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]", Format::Blkparse),
            (
                " dd 23 [000] 11427.1: block:block_rq_issue: 254,0 WS 8192 () 16 + 16 0x2,0,4 [dd]",
                Format::PerfScript,
            ),
            ("fio version 3 iolog", Format::FioIolog),
            ("128166372003061629,hm,0,Read,383496192,32768,113736", Format::Msr),
            ("W Hit   11392096  12   1686.00000  40961.00000", Format::DiskSim),
        ];
        for (line, format) in lines {
            assert_eq!(Format::of(line), Some(format), "{line}");
        }
        assert_eq!(Format::of("hello"), None);
    }
}
