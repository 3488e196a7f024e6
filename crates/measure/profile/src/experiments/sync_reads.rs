use serde::{Deserialize, Serialize};

use crate::Interval;

/// Blocking reads against asynchronous ones of the same sizes (DIAT §1.1), with the same number outstanding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReads {
    /// The combinations.
    pub reads: Vec<SyncRead>,
}

/// One size and one number of reads outstanding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Reads outstanding: threads that block, or the depth of one queue.
    pub outstanding: u32,
    /// That many threads, each of which reads and waits; `null` where there are no such threads.
    pub sync_bytes_per_s: Option<Interval<f64>>,
    /// One thread that keeps as many outstanding.
    pub async_bytes_per_s: Interval<f64>,
    /// Processor time of one blocking read.
    pub sync_cpu_ns_per_request: Option<f64>,
    /// Processor time of one asynchronous read.
    pub async_cpu_ns_per_request: f64,
}
