use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary};

/// Costs of making writes durable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushCosts {
    /// Commits by method, size and state of the extent.
    pub commits: Vec<CommitCost>,
    /// Groups of writers that share a flush.
    pub group_commit: Vec<GroupCommitCost>,
    /// Groups of writers with concurrent durable writes, one each.
    #[serde(default)]
    pub each_durable: Vec<GroupCommitCost>,
}

/// Commit method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommitMethod {
    /// Write, followed by a flush of the device.
    WriteThenFlush,
    /// Write that is durable on completion (forced unit access, `RWF_DSYNC`).
    DurableWrite,
    /// Write through the page cache, followed by `fdatasync`.
    Fdatasync,
    /// Write through the page cache, followed by `fsync`.
    Fsync,
    /// Write that is durable on completion, including the file's timestamps (`RWF_SYNC`,
    /// `open_sync` of `PostgreSQL`).
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

/// State of the extent before the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExtentState {
    /// Already written.
    Overwritten,
    /// Beyond the end of the file.
    Extended,
    /// Reserved but never written.
    Unwritten,
}

/// Cost of one commit method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitCost {
    /// Commit method.
    pub method: CommitMethod,
    /// State of the extent.
    pub extent: ExtentState,
    /// Bytes of each write.
    pub write_bytes: u64,
    /// Consecutive writes per commit.
    pub writes_per_commit: u32,
    /// True for a test file with blocking system calls, as in `pg_test_fsync`; false for the device
    /// or the file that stands for it.
    #[serde(default)]
    pub in_file: bool,
    /// Number of timed commits.
    pub observations: u64,
    /// Median time of a commit, from the first write's submission to the last completion.
    pub commit_ns: Interval<f64>,
    /// Latency of a commit.
    pub latency_ns: LatencySummary,
    /// Latency of the flush alone; `null` if there is none.
    #[serde(default)]
    pub flush_latency_ns: Option<LatencySummary>,
}

impl CommitCost {
    /// Bytes written per commit.
    pub fn bytes(&self) -> u64 {
        self.write_bytes.saturating_mul(u64::from(self.writes_per_commit.max(1)))
    }
}

/// Cost of a group of concurrent writers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCommitCost {
    /// Writers in the group.
    pub writers: u32,
    /// Bytes of each writer's write.
    pub write_bytes: u64,
    /// Number of timed groups.
    pub observations: u64,
    /// Commits per second of all writers together.
    pub commits_per_s: Interval<f64>,
    /// Latency of a commit for each writer.
    pub latency_ns: LatencySummary,
}
