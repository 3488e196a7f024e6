//! Description of a scan in plans, before and after it runs.

use std::fmt;
use std::sync::Arc;

use nandle_io::Nanos;
use nandle_reads::{Estimate, Strategy};
use nandle_units::{format_bytes, format_duration};

use super::share::Share;

/// Predicted figures of all partitions together.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) reads: Strategy,
    /// Row groups read, and all row groups.
    pub(crate) row_groups: (usize, usize),
    pub(crate) requests: u64,
    pub(crate) read_bytes: u64,
    pub(crate) wanted_bytes: u64,
    pub(crate) depth: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) device_seconds: Estimate,
}

/// Measured figures of a scan.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) requests: u64,
    pub(crate) read_bytes: u64,
    /// Unplanned requests.
    pub(crate) unplanned: u64,
    /// Time during which requests were outstanding.
    pub(crate) device: Nanos,
    pub(crate) processor: Nanos,
}

/// Predicted decoding time, or the reason why it is unknown.
pub(crate) type Processor = Result<Estimate, String>;

impl Told {
    /// `row_groups` are those read, and all.
    pub(crate) fn new(reads: Strategy, row_groups: (usize, usize), shares: &[Arc<Share>]) -> Self {
        let mut told = Self {
            reads,
            row_groups,
            requests: 0,
            read_bytes: 0,
            wanted_bytes: 0,
            depth: 0,
            memory_bytes: 0,
            device_seconds: Estimate::default(),
        };
        for share in shares {
            let of = &share.prediction;
            told.requests += of.requests;
            told.read_bytes += of.read_bytes;
            told.wanted_bytes += of.wanted_bytes;
            told.depth = told.depth.max(if of.requests > 0 { of.depth } else { 0 });
            told.memory_bytes += share.memory_bytes();
            told.device_seconds += of.device_seconds;
        }
        told
    }

    fn entries(&self, processor: &Processor) -> [(&'static str, String); 9] {
        let (read, all) = self.row_groups;
        [
            ("reads", self.reads.to_string()),
            ("row_groups", format!("{read} of {all}")),
            ("requests", self.requests.to_string()),
            ("read", format_bytes(self.read_bytes)),
            ("wanted", format_bytes(self.wanted_bytes)),
            ("depth", self.depth.to_string()),
            ("memory", format_bytes(self.memory_bytes)),
            ("device", bounded(self.device_seconds)),
            ("processor", processor_time(processor)),
        ]
    }

    /// Writes a line for each figure.
    pub(crate) fn write_lines(&self, f: &mut fmt::Formatter<'_>, processor: &Processor) -> fmt::Result {
        self.entries(processor).iter().try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
    }

    /// Formats all figures in one line.
    pub(crate) fn line(&self, processor: &Processor) -> String {
        self.entries(processor).map(|(name, value)| format!("{name}={value}")).join(", ")
    }
}

/// Formats a processor time, or the reason why there is none.
pub(crate) fn processor_time(processor: &Processor) -> String {
    processor.as_ref().map_or_else(|why| format!("unknown: {why}"), |seconds| bounded(*seconds))
}

/// Formats a time with its bounds.
pub(crate) fn bounded(Estimate { value, low, high }: Estimate) -> String {
    format!("{} ({} to {})", time(value), time(low), time(high))
}

fn time(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are positive, and years are enough"
    )]
    let nanos = (seconds * 1e9) as u64;
    format_duration(Nanos(nanos))
}
