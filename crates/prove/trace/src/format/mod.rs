//! Trace formats, one per file. A format parses each line into an event or an error.

mod blkparse;
mod columns;
mod csv;
mod disksim;
mod fio;
mod kernel;
mod perf;
mod requeue;
mod rwbs;

use crate::Record;

use self::columns::{ColumnReader, Layout, known};
use self::rwbs::RequestKind;

pub use columns::{Columns, InvalidColumns};
pub(crate) use csv::{HEADER as CSV_HEADER, HEADER_WITH_LATENCY as CSV_HEADER_WITH_LATENCY};
pub(crate) use fio::VERSION_3 as FIO_HEADER;
pub(crate) use kernel::request;

/// Format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Nandle's own CSV: `time_us,op,address,length`, optionally `latency_ns`.
    Csv,
    /// Output of `blkparse`, in its default format.
    Blkparse,
    /// Output of `perf script` for the event `block:block_rq_issue`.
    PerfScript,
    /// fio's `write_iolog`, versions 2 and 3.
    FioIolog,
    /// The block traces of Microsoft Research, Cambridge.
    Msr,
    /// Validation traces of `DiskSim`: requests to a real disk, with response times.
    DiskSim,
    /// Alibaba's block traces of 2020.
    Alibaba,
    /// Tencent's block traces of 2018.
    Tencent,
    /// Virtual desktop traces of SYSTOR '17.
    Systor17,
    /// Traces of the Storage Performance Council, as published by `UMass`.
    Spc,
    /// Traces of Florida International University.
    Fiu,
    /// Input of `DiskSim` in its `ascii` format.
    DiskSimAscii,
    /// Input of `MQSim`.
    MqSim,
    /// Columns specified by the user.
    Columns(Columns),
}

impl Format {
    /// Every format with a fixed name.
    pub const ALL: [Self; 13] = [
        Self::Csv,
        Self::Blkparse,
        Self::PerfScript,
        Self::FioIolog,
        Self::Msr,
        Self::DiskSim,
        Self::Alibaba,
        Self::Tencent,
        Self::Systor17,
        Self::Spc,
        Self::Fiu,
        Self::DiskSimAscii,
        Self::MqSim,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Blkparse => "blkparse",
            Self::PerfScript => "perf-script",
            Self::FioIolog => "fio-iolog",
            Self::Msr => "msr",
            Self::DiskSim => "disksim",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Systor17 => "systor17",
            Self::Spc => "spc",
            Self::Fiu => "fiu",
            Self::DiskSimAscii => "disksim-ascii",
            Self::MqSim => "mqsim",
            Self::Columns(_) => "columns",
        }
    }

    /// Description for lists.
    pub fn description(self) -> &'static str {
        match self {
            Self::Csv => "a CSV with the header time_us,op,address,length[,latency_ns]",
            Self::Blkparse => "the text of blkparse",
            Self::PerfScript => "the text of perf script for block:block_rq_issue",
            Self::FioIolog => "a fio iolog, version 2 or 3",
            Self::Msr => "an MSR Cambridge CSV",
            Self::DiskSim => "a validation trace of DiskSim",
            Self::Alibaba => "an Alibaba block trace",
            Self::Tencent => "a Tencent block trace",
            Self::Systor17 => "a SYSTOR '17 trace of virtual desktops",
            Self::Spc => "an SPC trace",
            Self::Fiu => "an FIU trace",
            Self::DiskSimAscii => "an ASCII trace of DiskSim",
            Self::MqSim => "an MQSim trace",
            Self::Columns(_) => "columns as named by --columns",
        }
    }

    /// Layout of the format, if it consists of columns.
    fn layout(self) -> Option<&'static Layout> {
        match self {
            Self::Msr => Some(&known::MSR),
            Self::Alibaba => Some(&known::ALIBABA),
            Self::Tencent => Some(&known::TENCENT),
            Self::Systor17 => Some(&known::SYSTOR_17),
            Self::Spc => Some(&known::SPC),
            Self::Fiu => Some(&known::FIU),
            Self::DiskSimAscii => Some(&known::DISKSIM_ASCII),
            Self::MqSim => Some(&known::MQSIM),
            Self::Csv
            | Self::Blkparse
            | Self::PerfScript
            | Self::FioIolog
            | Self::DiskSim
            | Self::Columns(_) => None,
        }
    }

    /// Columns of the format, if it consists of bare columns.
    fn columns(self) -> Option<Columns> {
        if let Self::Columns(columns) = self {
            Some(columns)
        } else {
            self.layout().map(|layout| layout.columns)
        }
    }

    /// Returns true if lines don't state the meaning of their columns, so that the format is
    /// recognised by their shape only.
    pub fn has_bare_columns(self) -> bool {
        self.layout().is_some()
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Returns true if a trace that begins with `line` has latencies.
    pub(crate) fn has_latencies(self, line: &str) -> bool {
        let of_columns = self.columns().is_some_and(Columns::has_latencies);
        of_columns || self == Self::DiskSim || self == Self::Csv && csv::has_latencies(line)
    }

    /// Returns true if events name their device.
    pub(crate) fn names_devices(self) -> bool {
        let of_columns = self.columns().is_some_and(Columns::names_devices);
        of_columns || matches!(self, Self::Blkparse | Self::PerfScript)
    }

    /// Returns true if `line` is a first event or a header of this format.
    pub(crate) fn fits(self, line: &str) -> bool {
        match self {
            Self::Csv => csv::begins(line),
            Self::Blkparse => blkparse::begins(line),
            Self::PerfScript => perf::begins(line),
            Self::FioIolog => fio::begins(line),
            Self::DiskSim => disksim::begins(line),
            Self::Columns(columns) => columns.fits(line),
            Self::Msr
            | Self::Alibaba
            | Self::Tencent
            | Self::Systor17
            | Self::Spc
            | Self::Fiu
            | Self::DiskSimAscii
            | Self::MqSim => self.layout().is_some_and(|layout| layout.fits(line)),
        }
    }

    /// Returns true if `line` is the header of this format's columns.
    pub(crate) fn has_header(self, line: &str) -> bool {
        let header = self.layout().and_then(|layout| layout.header);
        header.is_some_and(|header| columns::is_header(line, header))
    }

    pub(crate) fn parser(self) -> Box<dyn Parser> {
        match self {
            Self::Csv => Box::new(csv::Csv),
            Self::Blkparse => Box::<blkparse::Blkparse>::default(),
            Self::PerfScript => Box::<perf::PerfScript>::default(),
            Self::FioIolog => Box::new(fio::Iolog::default()),
            Self::DiskSim => Box::new(disksim::DiskSim::default()),
            Self::Msr => columns(&known::MSR),
            Self::Alibaba => columns(&known::ALIBABA),
            Self::Tencent => columns(&known::TENCENT),
            Self::Systor17 => columns(&known::SYSTOR_17),
            Self::Spc => columns(&known::SPC),
            Self::Fiu => columns(&known::FIU),
            Self::DiskSimAscii => columns(&known::DISKSIM_ASCII),
            Self::MqSim => columns(&known::MQSIM),
            Self::Columns(named) => columns(named),
        }
    }
}

fn columns(columns: impl Into<ColumnReader>) -> Box<dyn Parser> {
    Box::new(columns.into())
}

/// Parser that turns lines into events.
pub(crate) trait Parser {
    /// Parses a line. Returns `None` if it yields no event, or none yet.
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String>;

    /// Returns the next event that was held until later lines decided if it counts. Held events
    /// precede the next line's event.
    fn take_held(&mut self) -> Option<Event> {
        None
    }

    /// Ends the text, which releases the events that are still held.
    fn end(&mut self) {}

    /// Returns true if [`survey`](Self::survey) must see all lines before the first is parsed.
    fn surveys(&self) -> bool {
        false
    }

    /// Reads a line in the first pass. Defects are reported in the second.
    fn survey(&mut self, _line: &str) {}

    /// Returns true if times count from a distant date, so that the first event's time is the
    /// start.
    fn has_absolute_times(&self) -> bool {
        true
    }
}

/// An event, and its device if the format names devices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) record: Record,
    pub(crate) device: Option<String>,
    /// True if the device is flushed before the event.
    pub(crate) flushes_before: bool,
    /// True if the write is durable when it completes.
    pub(crate) is_durable: bool,
}

impl From<Record> for Event {
    fn from(record: Record) -> Self {
        Self { record, device: None, flushes_before: false, is_durable: false }
    }
}

impl Event {
    /// Creates the event of a request in the kernel's notation.
    fn of_request(record: Record, device: &str, kind: RequestKind) -> Self {
        // A flush without data is a sync already.
        let moves_data = record.operation.moves_data();
        Self {
            record,
            device: Some(device.to_owned()),
            flushes_before: kind.flushes_before && moves_data,
            is_durable: kind.is_durable && moves_data,
        }
    }
}

/// Parses a whole number.
pub(crate) fn number(text: Option<&str>, what: &str) -> Result<u64, String> {
    let text = text.ok_or_else(|| format!("{what} is missing"))?.trim();
    text.parse().map_err(|_| format!("{what} should be a whole number and is {text:?}"))
}

/// Parses seconds with up to nine decimals, as microseconds.
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
}
