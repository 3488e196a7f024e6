use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::experiments::{CommitCost, CommitMethod, ExtentState, WriteAmplification};

/// Time of one write in each pattern (`StableBuffer` §3.1); by the first of them, what it costs relative to sequential
/// writing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WritePatternCost {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Time of a sequential write.
    pub sequential_ns: Interval<f64>,
    /// Random writing all over the device, by sequential.
    pub random: Interval<f64>,
    /// Random writing inside the focused area, by sequential; `null` where no area stays cheap.
    pub focused: Option<Interval<f64>>,
    /// As many streams as stay cheap, by sequential; `null` where no two do.
    pub partitioned: Option<Interval<f64>>,
    /// The cheapest stride but one block onward, by sequential; of those whose cost is clear where there are any.
    pub ordered: Option<Interval<f64>>,
}

impl WritePatternCost {
    /// Bounds that are further apart than this, one by the other, leave open whether a pattern is cheap or expensive, and what
    /// follows from it.
    pub const CLEAR_SPREAD_MAX: f64 = 4.0;

    /// Whether a relative cost is known well enough to conclude anything from it.
    pub fn is_clear(cost: &Interval<f64>) -> bool {
        cost.high <= Self::CLEAR_SPREAD_MAX * cost.low
    }
}

/// What it takes until a small write is durable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitTime {
    /// How.
    pub method: CommitMethod,
    /// Whether in a file, by blocking system calls; otherwise on the device.
    #[serde(default)]
    pub in_file: bool,
    /// Bytes of the write.
    pub write_bytes: u64,
    /// Median.
    pub median_ns: Interval<f64>,
    /// 99th percentile, where enough was observed.
    pub p99_ns: Option<u64>,
}

impl CommitTime {
    /// Whether it sums that cost up.
    pub fn is_of(&self, cost: &CommitCost) -> bool {
        cost.extent == ExtentState::Overwritten
            && cost.writes_per_commit == 1
            && (cost.method, cost.in_file, cost.write_bytes) == (self.method, self.in_file, self.write_bytes)
    }
}

/// Commits per second alone and together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCommitGain {
    /// Commits per second of one writer.
    pub alone_per_s: Interval<f64>,
    /// Writers beyond which more gain less than 10 %.
    pub writers: Interval<u32>,
    /// Commits per second of so many.
    pub together_per_s: Interval<f64>,
}

/// Random writing for long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyStateFigures {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Bandwidth of random writing in the steady state, or of the last rounds when it was not reached.
    pub random_write_bytes_per_s: Interval<f64>,
    /// By the bandwidth of the first second.
    pub of_fresh: Option<f64>,
    /// Whether the criterion held.
    pub reached: bool,
    /// Flash writes by host writes.
    pub write_amplification: Option<WriteAmplification>,
}

/// How much may be written before reads suffer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceLimit {
    /// Reads per second that go on meanwhile.
    pub read_rate_per_s: f64,
    /// The quantile of the reads' latency that is watched: 0.99, or a lower one where the reads were too few.
    pub quantile: f64,
    /// The most writes per second at which that quantile is at most twice what it is without writes.
    pub write_rate_per_s: Interval<f64>,
    /// The same as a share of the most writes per second.
    pub write_share: Interval<f64>,
}
