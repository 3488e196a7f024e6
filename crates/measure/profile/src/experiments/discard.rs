use serde::{Deserialize, Serialize};

use crate::LatencySummary;

/// Cost of discards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardCosts {
    /// Discards by size.
    pub discards: Vec<DiscardCost>,
    /// Latency of random reads alone.
    pub read_latency_alone_ns: LatencySummary,
    /// Latency of random reads during discards.
    pub read_latency_beside_ns: LatencySummary,
}

/// Discards of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardCost {
    /// Bytes of one discard.
    pub discard_bytes: u64,
    /// Number of timed discards.
    pub observations: u64,
    /// Bytes discarded per second.
    pub bandwidth_bytes_per_s: f64,
    /// Latency of one discard.
    pub latency_ns: LatencySummary,
}
