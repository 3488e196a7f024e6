//! Findings of a probe's experiments, one file each. An experiment that wasn't run is `null`;
//! [`Experiments::skipped`] gives the reason.

mod array_layout;
mod atomic_write;
mod discard;
mod fill_level;
mod flush;
mod interference;
mod large_writes;
mod read_ahead;
mod scaling;
mod smallest_block;
mod steady_state;
mod sync_reads;
mod transactions;
mod write_cache;
mod write_patterns;

use serde::{Deserialize, Serialize};

pub use array_layout::{ArrayLayout, LayoutScore};
pub use atomic_write::AtomicWriteFindings;
pub use discard::{DiscardCost, DiscardCosts};
pub use fill_level::{FillChange, FillLevel, FillLevels};
pub use flush::{CommitCost, CommitMethod, ExtentState, FlushCosts, GroupCommitCost};
pub use interference::{InterferenceCell, InterferenceMap, ReadSlowdown};
pub use large_writes::{LargeWriteCell, LargeWrites};
pub use read_ahead::{ReadAhead, StreamCost};
pub use scaling::{Scaling, ScalingCell};
pub use smallest_block::{AlignmentCost, BlockRate, SmallestBlock};
pub use steady_state::{
    Departure, DepartureKind, SteadyRound, SteadyState, WriteAmplification, WriteAmplificationSource,
};
pub use sync_reads::{SyncRead, SyncReads};
pub use transactions::{MixedLoad, Transactions};
pub use write_cache::{CacheSetting, WriteCacheFindings};
pub use write_patterns::{DeviceState, MicroBenchmark, PatternCost, WritePatterns};

/// Records of all experiments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Experiments {
    /// Cost of writes in each pattern.
    pub write_patterns: Option<Conducted<WritePatterns>>,
    /// Bandwidth of large sequential writes.
    pub large_writes: Option<Conducted<LargeWrites>>,
    /// Commits and mixed loads of short transactions.
    pub transactions: Option<Conducted<Transactions>>,
    /// Cost of a commit.
    pub flush: Option<Conducted<FlushCosts>>,
    /// Size, speed and drain time of the write cache.
    pub write_cache: Option<Conducted<WriteCacheFindings>>,
    /// Sustained random writes.
    pub steady_state: Option<Conducted<SteadyState>>,
    /// Effect of filling and fragmenting the device.
    pub fill_level: Option<Conducted<FillLevels>>,
    /// Effect of writes on read latency.
    pub interference: Option<Conducted<InterferenceMap>>,
    /// Smallest block size with a gain.
    pub smallest_block: Option<Conducted<SmallestBlock>>,
    /// Writes that are never torn.
    pub atomic_write: Option<Conducted<AtomicWriteFindings>>,
    /// Cost of discards.
    pub discard: Option<Conducted<DiscardCosts>>,
    /// Read-ahead of the device, and the number of streams it follows.
    pub read_ahead: Option<Conducted<ReadAhead>>,
    /// Scaling over threads and queues.
    pub scaling: Option<Conducted<Scaling>>,
    /// Chunk and members of an array behind the device.
    pub array_layout: Option<Conducted<ArrayLayout>>,
    /// Blocking reads compared with asynchronous ones.
    pub sync_reads: Option<Conducted<SyncReads>>,
    /// Experiments that weren't run, with the reason.
    pub skipped: Vec<SkippedExperiment>,
}

impl Experiments {
    /// Returns true if an experiment timed commits or tried to.
    pub fn timed_commits(&self) -> bool {
        self.flush.is_some() || self.transactions.is_some()
    }
}

/// Prefix of the entry in a profile's `partial` that lists experiments that ended early. Their
/// findings are valid, with their intervals.
pub const EXPERIMENTS_PARTIAL: &str = "experiments ended early: ";

/// Record of an experiment that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conducted<T> {
    /// True if it ran to its end without a failed request. A resumed probe repeats incomplete
    /// experiments.
    pub complete: bool,
    /// Reason for an early end; `null` if it ran to its end.
    pub ended_by: Option<String>,
    /// Requests that failed or returned wrong contents while others succeeded. The findings exclude
    /// them. `null` if there were none.
    #[serde(default)]
    pub failed: Option<FailedRequests>,
    /// Time taken.
    pub elapsed_ns: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Remarks for the reader of the figures, each a sentence.
    pub remarks: Vec<String>,
    /// Findings of the experiment.
    pub findings: T,
}

/// Failed requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedRequests {
    /// Number of failed requests.
    pub requests: u64,
    /// Message of the first failure.
    pub first_error: String,
}

/// Experiment that wasn't run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedExperiment {
    /// Name of the experiment, as for `--only`.
    pub name: String,
    /// Reason and remedy.
    pub reason: String,
}
