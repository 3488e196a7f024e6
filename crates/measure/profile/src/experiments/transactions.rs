use serde::{Deserialize, Serialize};

use super::CommitCost;
use crate::{Interval, LatencySummary};

/// Commits and mixed loads of short transactions: the two write figures of a one-minute probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transactions {
    /// Default commit of databases; empty if it couldn't be timed.
    pub commits: Vec<CommitCost>,
    /// Random reads and writes of a page, by queue depth.
    pub mixed: Vec<MixedLoad>,
}

/// Random reads and writes in one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixedLoad {
    /// Share of reads, in per cent.
    pub read_percent: u8,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Counted requests.
    pub requests: u64,
    /// Requests per second, reads and writes together.
    pub requests_per_s: Interval<f64>,
    /// Latency of reads and writes together.
    pub latency_ns: LatencySummary,
}
