use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// What makes writes durable, and what it costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushCosts {
    /// Each way to commit, by size and by the state of the extent.
    pub commits: Vec<CommitCost>,
    /// Several writers that share a flush.
    pub group_commit: Vec<GroupCommitCost>,
    /// As many writers, each with a durable write of its own, all at once.
    #[serde(default)]
    pub each_durable: Vec<GroupCommitCost>,
}

/// How a commit is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommitMethod {
    /// A write, and after its completion a flush of the device.
    WriteThenFlush,
    /// A write that is durable when it completes (forced unit access, `RWF_DSYNC`).
    DurableWrite,
    /// A write through the page cache, and `fdatasync` after it.
    Fdatasync,
    /// A write through the page cache, and `fsync` after it.
    Fsync,
    /// A write that is durable when it completes, the file's times with it (`RWF_SYNC`, `open_sync` of `PostgreSQL`).
    OpenSync,
}

impl fmt::Display for CommitMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::WriteThenFlush => "write, then flush",
            Self::DurableWrite => "durable write",
            Self::Fdatasync => "fdatasync",
            Self::Fsync => "fsync",
            Self::OpenSync => "open_sync",
        })
    }
}

/// What the extent was that was written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExtentState {
    /// Written before.
    Overwritten,
    /// At the end of the file.
    Extended,
    /// Reserved and never written.
    Unwritten,
}

/// One way to commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitCost {
    /// How.
    pub method: CommitMethod,
    /// Into what.
    pub extent: ExtentState,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Writes to one commit.
    pub writes_per_commit: u32,
    /// Whether it was in a test file, by blocking system calls, as `pg_test_fsync` does it; otherwise on the device, or
    /// the file that stands for it.
    #[serde(default)]
    pub in_file: bool,
    /// Commits that were timed.
    pub observations: u64,
    /// Median time of a commit, from the first write's submission to the last completion.
    pub commit_ns: Interval<f64>,
    /// The distribution.
    pub latency_ns: LatencySummary,
    /// Of that, the flush alone, from its submission on; `null` where there is none.
    #[serde(default)]
    pub flush_latency_ns: Option<LatencySummary>,
}

impl CommitCost {
    /// Bytes of a commit.
    pub fn bytes(&self) -> u64 {
        self.write_bytes.saturating_mul(u64::from(self.writes_per_commit.max(1)))
    }
}

/// Writers that share one flush.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCommitCost {
    /// Writers whose writes one flush covers.
    pub writers: u32,
    /// Bytes of each writer's write.
    pub write_bytes: u64,
    /// Flushes that were timed.
    pub observations: u64,
    /// Commits per second, all writers together.
    pub commits_per_s: Interval<f64>,
    /// What each writer waits.
    pub latency_ns: LatencySummary,
}
