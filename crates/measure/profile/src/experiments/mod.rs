//! What each experiment of a probe found: a file per experiment. An experiment that was not run is `null`, and the
//! reason is in [`Experiments::skipped`].

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

/// Every experiment's record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Experiments {
    /// What writing in each pattern costs.
    pub write_patterns: Option<Conducted<WritePatterns>>,
    /// What writing in sequence gives in large requests.
    pub large_writes: Option<Conducted<LargeWrites>>,
    /// What short transactions wait for.
    pub transactions: Option<Conducted<Transactions>>,
    /// What a commit costs.
    pub flush: Option<Conducted<FlushCosts>>,
    /// What the write cache absorbs, and how long it takes to drain.
    pub write_cache: Option<Conducted<WriteCacheFindings>>,
    /// What the device gives after hours of writing.
    pub steady_state: Option<Conducted<SteadyState>>,
    /// What filling and fragmenting it changes.
    pub fill_level: Option<Conducted<FillLevels>>,
    /// What writes do to the latency of reads.
    pub interference: Option<Conducted<InterferenceMap>>,
    /// Below which size smaller requests gain nothing.
    pub smallest_block: Option<Conducted<SmallestBlock>>,
    /// Which writes are never torn.
    pub atomic_write: Option<Conducted<AtomicWriteFindings>>,
    /// What a discard costs.
    pub discard: Option<Conducted<DiscardCosts>>,
    /// How far the device reads ahead, and for how many streams.
    pub read_ahead: Option<Conducted<ReadAhead>>,
    /// What more threads and queues give.
    pub scaling: Option<Conducted<Scaling>>,
    /// Chunk and stripe of an array behind the device.
    pub array_layout: Option<Conducted<ArrayLayout>>,
    /// Synchronous against asynchronous reads.
    pub sync_reads: Option<Conducted<SyncReads>>,
    /// What was not run, and why.
    pub skipped: Vec<SkippedExperiment>,
}

impl Experiments {
    /// Whether some experiment timed commits, or tried to.
    pub fn timed_commits(&self) -> bool {
        self.flush.is_some() || self.transactions.is_some()
    }
}

/// With this begins what a profile's `partial` says of experiments that ended early: what they found stands, with its intervals.
pub const EXPERIMENTS_PARTIAL: &str = "experiments ended early: ";

/// An experiment that was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conducted<T> {
    /// Whether it came to its end and no request failed. A probe that is resumed runs it again when that is not so.
    pub complete: bool,
    /// What ended it before; `null` when it came to its end.
    pub ended_by: Option<String>,
    /// Requests that failed, or brought wrong contents, while others were answered: what was found stands without them.
    /// `null` when none did.
    #[serde(default)]
    pub failed: Option<FailedRequests>,
    /// Time that it took.
    pub elapsed_ns: u64,
    /// Bytes that it wrote.
    pub bytes_written: u64,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
    /// What it found.
    pub findings: T,
}

/// Requests that a device did not carry out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedRequests {
    /// How many.
    pub requests: u64,
    /// What became of the first of them.
    pub first_error: String,
}

/// An experiment that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedExperiment {
    /// Its name, as `--only` takes it.
    pub name: String,
    /// Why not, and what would change that.
    pub reason: String,
}
