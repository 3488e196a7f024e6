use nandle_profile::OperationKind;

use crate::load::{Arrivals, Refill, Stop};
use crate::pattern::PatternSpec;

/// Parameter space of a sweep.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// Address patterns.
    pub patterns: Vec<PatternSpec>,
    /// Bytes of one request.
    pub block_sizes: Vec<u64>,
    /// Blocks in a group, for the patterns that have groups.
    pub group_sizes: Vec<u64>,
    /// Queue depths.
    pub queue_depths: Vec<u32>,
    /// Kinds of operation, each measured in its own cells.
    pub operations: Vec<OperationKind>,
    /// End of a cell's run.
    pub stop: Stop,
    /// Time at which completed requests are replaced.
    pub refill: Refill,
    /// Arrival rate, for scheduled requests instead of a closed loop.
    pub rate: Option<OpenLoopRate>,
    /// Submitting threads, which share the queue depth.
    pub threads: u32,
    /// Read pool of all threads together. With 0, there is one buffer per outstanding request.
    pub read_pool_bytes: u64,
    /// Seed of the patterns.
    pub seed: u64,
    /// Largest number of outstanding bytes. Cells beyond it are skipped.
    pub outstanding_bytes_max: u64,
}

impl SweepOptions {
    /// Returns true if a cell reads through a read pool.
    pub fn has_read_pool(&self) -> bool {
        self.read_pool_bytes > 0 && self.operations.iter().any(|operation| operation.reads())
    }

    /// Returns true if no cell writes.
    pub fn reads_only(&self) -> bool {
        self.operations.iter().all(|operation| *operation == OperationKind::Read)
    }
}

/// Schedule of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoopRate {
    /// Requests per second of all threads together.
    pub per_s: f64,
    /// Distribution of arrivals.
    pub arrivals: Arrivals,
}
