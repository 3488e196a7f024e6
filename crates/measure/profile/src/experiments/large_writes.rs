use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// Bandwidth of large sequential writes with several outstanding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeWrites {
    /// Measured sizes and depths.
    pub cells: Vec<LargeWriteCell>,
}

/// Sequential writes of one size at one depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeWriteCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Number of timed requests.
    pub requests: u64,
    /// Bytes per second over all rounds.
    pub bandwidth_bytes_per_s: Interval<f64>,
    /// Latency of each request.
    pub latency_ns: LatencySummary,
}
