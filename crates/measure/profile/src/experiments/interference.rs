use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// Read latency by read rate and write rate, with scheduled requests (open loop, Poisson arrivals).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceMap {
    /// Bytes of one read.
    pub read_block_bytes: u64,
    /// Bytes of one write.
    pub write_block_bytes: u64,
    /// Peak read rate, without writes.
    pub read_iops_max: f64,
    /// Peak write rate, without reads.
    pub write_iops_max: f64,
    /// Measured combinations of rates.
    pub cells: Vec<InterferenceCell>,
}

impl InterferenceMap {
    /// Returns true if cells with writes were measured more than once, so that their slowdowns have
    /// bounds.
    pub fn has_spread(&self) -> bool {
        self.cells.iter().any(|cell| cell.write_share > 0.0 && cell.read_slowdown.is_some())
    }
}

/// Combination of a read rate and a write rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceCell {
    /// Target read rate relative to [`InterferenceMap::read_iops_max`].
    pub read_share: f64,
    /// Target write rate relative to [`InterferenceMap::write_iops_max`].
    pub write_share: f64,
    /// Target reads per second.
    pub read_rate_per_s: f64,
    /// Target writes per second.
    pub write_rate_per_s: f64,
    /// Completed reads per second.
    pub read_achieved_per_s: f64,
    /// Completed writes per second.
    pub write_achieved_per_s: f64,
    /// True if both rates were kept. Otherwise latencies show how far the device fell behind.
    pub rates_kept: bool,
    /// Latency of reads, from the scheduled arrival.
    pub read_latency_ns: LatencySummary,
    /// Latency of writes, from the scheduled arrival.
    pub write_latency_ns: LatencySummary,
    /// Slowdown of reads by the writes. `null` if there are too few observations for any quantile,
    /// or if there was a single round, which has no spread.
    #[serde(default)]
    pub read_slowdown: Option<ReadSlowdown>,
}

/// Ratio of a read latency quantile to the same quantile at the same read rate without writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadSlowdown {
    /// The quantile: 0.99, or a lower one if there were too few reads.
    pub quantile: f64,
    /// Ratio of the quantiles.
    pub ratio: Interval<f64>,
}
