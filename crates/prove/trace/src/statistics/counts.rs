use rustc_hash::FxHashMap;
use serde::Serialize;

use super::latencies::Latencies;
use crate::{Operation, Record};

/// Number of sizes reported.
const SIZES_TOLD: usize = 8;

/// Number of writes of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Length of the write, in bytes.
    pub bytes: u64,
    /// Number of writes.
    pub writes: u64,
}

/// Requests specific to zoned devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ZoneCounts {
    /// Appends, which also count as writes.
    pub appends: u64,
    /// Resets of one zone or of all zones.
    pub resets: u64,
    /// Finishes, which make zones full.
    pub finishes: u64,
    /// Opens of zones.
    pub opens: u64,
    /// Closes of zones.
    pub closes: u64,
}

impl ZoneCounts {
    /// Returns true if all counts are zero.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Event counters.
#[derive(Default)]
pub(super) struct Counts {
    /// Earliest and latest time.
    times_us: Option<(u64, u64)>,
    pub(super) zones: ZoneCounts,
    pub(super) reads: u64,
    pub(super) read_bytes: u64,
    pub(super) writes: u64,
    pub(super) written_bytes: u64,
    pub(super) syncs: u64,
    pub(super) discards: u64,
    pub(super) read_latencies: Latencies,
    pub(super) write_latencies: Latencies,
    pub(super) sync_latencies: Latencies,
    sizes: FxHashMap<u64, u64>,
    span: Option<(u64, u64)>,
}

impl Counts {
    /// Counts an event; `conventional` is its translation for a conventional drive.
    pub(super) fn add(&mut self, record: &Record, conventional: Option<&Record>) {
        let (first, last) = self.times_us.unwrap_or((record.time_us, record.time_us));
        self.times_us = Some((first.min(record.time_us), last.max(record.time_us)));
        if let Some(written) = conventional.filter(|record| record.operation.is_write()) {
            self.add_write(written);
        }
        match record.operation {
            Operation::Read => {
                self.reads += 1;
                self.read_latencies.add(record.latency_ns);
                self.read_bytes = self.read_bytes.saturating_add(record.length_bytes);
            }
            Operation::Write => {}
            Operation::Sync => {
                self.syncs += 1;
                self.sync_latencies.add(record.latency_ns);
            }
            Operation::Discard => self.discards += 1,
            Operation::Append => self.zones.appends += 1,
            Operation::ZoneReset => self.zones.resets += 1,
            Operation::ZoneFinish => self.zones.finishes += 1,
            Operation::ZoneOpen => self.zones.opens += 1,
            Operation::ZoneClose => self.zones.closes += 1,
        }
    }

    pub(super) fn duration_us(&self) -> u64 {
        self.times_us.map_or(0, |(first, last)| last - first)
    }

    fn add_write(&mut self, record: &Record) {
        self.writes += 1;
        self.write_latencies.add(record.latency_ns);
        self.written_bytes = self.written_bytes.saturating_add(record.length_bytes);
        *self.sizes.entry(record.length_bytes).or_default() += 1;
        let end = record.address.saturating_add(record.length_bytes);
        let (low, high) = self.span.unwrap_or((record.address, end));
        self.span = Some((low.min(record.address), high.max(end)));
    }

    pub(super) fn span_bytes(&self) -> Option<u64> {
        debug_assert_eq!(self.span.is_some(), self.writes > 0, "writes span something");
        self.span.map(|(low, high)| high - low)
    }

    pub(super) fn frequent_sizes(&self) -> Vec<SizeCount> {
        let mut sizes: Vec<_> =
            self.sizes.iter().map(|(&bytes, &writes)| SizeCount { bytes, writes }).collect();
        debug_assert_eq!(
            sizes.iter().map(|size| size.writes).sum::<u64>(),
            self.writes,
            "each write has a size"
        );
        sizes.sort_by_key(|size| (std::cmp::Reverse(size.writes), size.bytes));
        sizes.truncate(SIZES_TOLD);
        sizes
    }
}
