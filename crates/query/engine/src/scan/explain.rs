//! What a plan says of a scan before it runs.

use std::fmt;
use std::sync::Arc;

use nandle_io::Nanos;
use nandle_reads::{Estimate, Strategy};
use nandle_units::{format_bytes, format_duration};

use super::share::Share;

/// The figures of all partitions together.
#[derive(Debug)]
pub(crate) struct Told {
    reads: Strategy,
    row_groups: (usize, usize),
    requests: u64,
    read_bytes: u64,
    wanted_bytes: u64,
    depth: u32,
    memory_bytes: u64,
    device_seconds: Estimate,
}

impl Told {
    /// `row_groups` are those that are read, and all.
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

    fn entries(&self) -> [(&'static str, String); 8] {
        let (read, all) = self.row_groups;
        let Estimate { value, low, high } = self.device_seconds;
        [
            ("reads", self.reads.to_string()),
            ("row_groups", format!("{read} of {all}")),
            ("requests", self.requests.to_string()),
            ("read", format_bytes(self.read_bytes)),
            ("wanted", format_bytes(self.wanted_bytes)),
            ("depth", self.depth.to_string()),
            ("memory", format_bytes(self.memory_bytes)),
            ("device", format!("{} ({} to {})", time(value), time(low), time(high))),
        ]
    }

    /// A line for each figure.
    pub(crate) fn write_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries().iter().try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries().map(|(name, value)| format!("{name}={value}"));
        f.write_str(&entries.join(", "))
    }
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
