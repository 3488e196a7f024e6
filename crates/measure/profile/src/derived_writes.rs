use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::experiments::{CommitCost, CommitMethod, ExtentState, WriteAmplification};

/// Cost of one write in each pattern (`StableBuffer` §3.1), relative to a sequential write.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WritePatternCost {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Time of a sequential write.
    pub sequential_ns: Interval<f64>,
    /// Random writes over the whole device, relative to sequential ones.
    pub random: Interval<f64>,
    /// Random writes within the focused area, relative to sequential ones; `null` if no area is
    /// cheap.
    pub focused: Option<Interval<f64>>,
    /// Writes of the largest cheap number of streams, relative to sequential ones; `null` if not
    /// even two are cheap.
    pub partitioned: Option<Interval<f64>>,
    /// Cheapest stride other than sequential, relative to sequential writes. Strides with a clear
    /// cost are preferred.
    pub ordered: Option<Interval<f64>>,
}

impl WritePatternCost {
    /// Largest ratio of the bounds of a clear cost. Wider bounds don't show if a pattern is cheap
    /// or expensive.
    pub const CLEAR_SPREAD_MAX: f64 = 4.0;

    /// Returns true if a relative cost is precise enough for conclusions.
    pub fn is_clear(cost: &Interval<f64>) -> bool {
        cost.high <= Self::CLEAR_SPREAD_MAX * cost.low
    }
}

/// Time until a small write is durable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitTime {
    /// Commit method.
    pub method: CommitMethod,
    /// True for a file with blocking system calls; false for the device.
    #[serde(default)]
    pub in_file: bool,
    /// Bytes of the write.
    pub write_bytes: u64,
    /// Median time of a commit.
    pub median_ns: Interval<f64>,
    /// 99th percentile, if there were enough observations.
    pub p99_ns: Option<u64>,
}

impl CommitTime {
    /// Returns true if this is the summary of `cost`.
    pub fn is_of(&self, cost: &CommitCost) -> bool {
        cost.extent == ExtentState::Overwritten
            && cost.writes_per_commit == 1
            && (cost.method, cost.in_file, cost.write_bytes) == (self.method, self.in_file, self.write_bytes)
    }
}

/// Commit rates alone and in groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCommitGain {
    /// Commits per second of one writer.
    pub alone_per_s: Interval<f64>,
    /// Number of writers beyond which more gain less than 10 %.
    pub writers: Interval<u32>,
    /// Commits per second of `writers` writers.
    pub together_per_s: Interval<f64>,
}

/// Sustained random writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyStateFigures {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Bandwidth of random writes in the steady state, or of the last rounds if it wasn't reached.
    pub random_write_bytes_per_s: Interval<f64>,
    /// Ratio to the bandwidth of the first second.
    pub of_fresh: Option<f64>,
    /// True if the steady state was reached.
    pub reached: bool,
    /// Write amplification.
    pub write_amplification: Option<WriteAmplification>,
}

/// Write rate up to which reads aren't slowed down much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterferenceLimit {
    /// Concurrent reads per second.
    pub read_rate_per_s: f64,
    /// Quantile of the read latency: 0.99, or a lower one if there were too few reads.
    pub quantile: f64,
    /// Highest write rate at which that quantile is at most twice its value without writes.
    pub write_rate_per_s: Interval<f64>,
    /// This limit as a share of the peak write rate.
    pub write_share: Interval<f64>,
}
