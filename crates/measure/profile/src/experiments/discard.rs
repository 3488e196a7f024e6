use serde::{Deserialize, Serialize};

use crate::LatencySummary;

/// What giving blocks back costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardCosts {
    /// Discards by size.
    pub discards: Vec<DiscardCost>,
    /// Latency of random reads when nothing else is done.
    pub read_latency_alone_ns: LatencySummary,
    /// Latency of random reads beside discards.
    pub read_latency_beside_ns: LatencySummary,
}

/// Discards of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardCost {
    /// Bytes of one discard.
    pub discard_bytes: u64,
    /// Discards that were timed.
    pub observations: u64,
    /// Bytes discarded per second.
    pub bandwidth_bytes_per_s: f64,
    /// Time of one.
    pub latency_ns: LatencySummary,
}
