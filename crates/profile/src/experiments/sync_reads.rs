use serde::{Deserialize, Serialize};

use crate::Interval;

/// Blocking reads, one after the other, against asynchronous ones of the same sizes (DIAT §1.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReads {
    /// The sizes.
    pub reads: Vec<SyncRead>,
}

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Blocking reads of one thread.
    pub sync_bytes_per_s: Interval<f64>,
    /// Asynchronous reads.
    pub async_bytes_per_s: Interval<f64>,
    /// How many of those were outstanding.
    pub async_queue_depth: u32,
}
