use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// Latency of reads over the rate of reads and the rate of writes, on a schedule (open loop, Poisson arrivals).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceMap {
    /// Bytes of one read.
    pub read_block_bytes: u64,
    /// Bytes of one write.
    pub write_block_bytes: u64,
    /// Reads per second when nothing else is done.
    pub read_iops_max: f64,
    /// Writes per second when nothing else is done.
    pub write_iops_max: f64,
    /// The cells.
    pub cells: Vec<InterferenceCell>,
}

impl InterferenceMap {
    /// Whether cells beside writes were measured more than once, so that their slowdowns have bounds.
    pub fn has_spread(&self) -> bool {
        self.cells.iter().any(|cell| cell.write_share > 0.0 && cell.read_slowdown.is_some())
    }
}

/// One combination of rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceCell {
    /// Reads wanted, by [`InterferenceMap::read_iops_max`].
    pub read_share: f64,
    /// Writes wanted, by [`InterferenceMap::write_iops_max`].
    pub write_share: f64,
    /// Reads wanted.
    pub read_rate_per_s: f64,
    /// Writes wanted.
    pub write_rate_per_s: f64,
    /// Reads that came about.
    pub read_achieved_per_s: f64,
    /// Writes that came about.
    pub write_achieved_per_s: f64,
    /// Whether both rates were kept; latencies of a cell that missed them say how far behind it was.
    pub rates_kept: bool,
    /// Latency of reads, from the scheduled arrival.
    pub read_latency_ns: LatencySummary,
    /// Latency of writes, from the scheduled arrival.
    pub write_latency_ns: LatencySummary,
    /// What the writes do to the reads' latency; `null` where there are too few observations for any quantile, and of a single
    /// round, which says nothing of how far the ratio spreads.
    #[serde(default)]
    pub read_slowdown: Option<ReadSlowdown>,
}

/// A quantile of the latency of reads, by the same quantile at the same rate of reads without any writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadSlowdown {
    /// The quantile: 0.99, or a lower one where fewer reads than that needs came about.
    pub quantile: f64,
    /// The ratio.
    pub ratio: Interval<f64>,
}
