use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// What writing in sequence gives, in large requests and with several outstanding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeWrites {
    /// Each size and depth that was measured.
    pub cells: Vec<LargeWriteCell>,
}

/// Sequential writes of one size at one depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeWriteCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests that were timed.
    pub requests: u64,
    /// Bytes a second over all rounds.
    pub bandwidth_bytes_per_s: Interval<f64>,
    /// Latency of each request.
    pub latency_ns: LatencySummary,
}
