use serde::{Deserialize, Serialize};

use super::CommitCost;
use crate::{Interval, LatencySummary};

/// What short transactions wait for: the two figures of writing that a probe of a minute has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transactions {
    /// The commit that a database makes by default; empty where it couldn't be timed.
    pub commits: Vec<CommitCost>,
    /// Random reads and writes of a page, by queue depth.
    pub mixed: Vec<MixedLoad>,
}

/// Reads and writes at random places, in one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixedLoad {
    /// Share of the requests that read, in per cent.
    pub read_percent: u8,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests that were counted.
    pub requests: u64,
    /// Requests per second, reads and writes together.
    pub requests_per_s: Interval<f64>,
    /// Latency of reads and writes together.
    pub latency_ns: LatencySummary,
}
