use rustc_hash::FxHashMap;
use serde::Serialize;

use super::latencies::Latencies;
use crate::{Operation, Record};

/// How many sizes are told.
const SIZES_TOLD: usize = 8;

/// How often writes have a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Bytes of the write.
    pub bytes: u64,
    /// How many there are.
    pub writes: u64,
}

/// Plain counts.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) duration_us: u64,
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
    pub(super) fn add(&mut self, record: &Record) {
        self.duration_us = self.duration_us.max(record.time_us);
        match record.operation {
            Operation::Read => {
                self.reads += 1;
                self.read_latencies.add(record.latency_ns);
                self.read_bytes = self.read_bytes.saturating_add(record.length_bytes);
            }
            Operation::Write => self.add_write(record),
            Operation::Sync => {
                self.syncs += 1;
                self.sync_latencies.add(record.latency_ns);
            }
            Operation::Discard => self.discards += 1,
        }
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
