use nandle_profile::OperationKind;

use crate::load::{Arrivals, Refill, Stop};
use crate::pattern::PatternSpec;

/// The parameter space of a sweep.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// Address patterns.
    pub patterns: Vec<PatternSpec>,
    /// Bytes of one request.
    pub block_sizes: Vec<u64>,
    /// Blocks in a group, for the patterns that have groups.
    pub group_sizes: Vec<u64>,
    /// Requests outstanding.
    pub queue_depths: Vec<u32>,
    /// What the requests do, each in cells of its own.
    pub operations: Vec<OperationKind>,
    /// When the run of a cell ends.
    pub stop: Stop,
    /// When completed requests are followed by new ones.
    pub refill: Refill,
    /// Requests on a schedule, instead of as fast as they complete.
    pub rate: Option<OpenLoopRate>,
    /// Submitting threads. The queue depth is shared out among them.
    pub threads: u32,
    /// Memory through which reads of a real device go, all threads together; 0: as many buffers as requests outstanding.
    pub read_pool_bytes: u64,
    /// Seed of the patterns.
    pub seed: u64,
    /// Cells that would have more bytes outstanding than this are skipped.
    pub outstanding_bytes_max: u64,
}

impl SweepOptions {
    /// Whether some cell reads, and goes through memory for that.
    pub fn has_read_pool(&self) -> bool {
        self.read_pool_bytes > 0 && self.operations.iter().any(|operation| operation.reads())
    }

    /// Whether no cell writes.
    pub fn reads_only(&self) -> bool {
        self.operations.iter().all(|operation| *operation == OperationKind::Read)
    }
}

/// The schedule of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoopRate {
    /// Requests per second, all threads together.
    pub per_s: f64,
    /// How they are spread.
    pub arrivals: Arrivals,
}
