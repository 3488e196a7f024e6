use serde::{Deserialize, Serialize};

use crate::Interval;

/// Blocking reads compared with asynchronous ones of the same sizes and number outstanding (DIAT
/// §1.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReads {
    /// Measured combinations.
    pub reads: Vec<SyncRead>,
}

/// One size and one number of outstanding reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Outstanding reads: the number of blocking threads, or the depth of one queue.
    pub outstanding: u32,
    /// Bandwidth of that many blocking threads; `null` if there are no threads.
    pub sync_bytes_per_s: Option<Interval<f64>>,
    /// Bandwidth of one thread with that queue depth.
    pub async_bytes_per_s: Interval<f64>,
    /// Processor time of one blocking read.
    pub sync_cpu_ns_per_request: Option<f64>,
    /// Processor time of one asynchronous read.
    pub async_cpu_ns_per_request: f64,
}
