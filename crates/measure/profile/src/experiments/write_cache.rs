use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary, OperationKind};

/// What the device takes in before it has to write in earnest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCacheFindings {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bytes absorbed at the higher speed; `null` when no change of speed was seen.
    pub absorbed_bytes: Option<Interval<u64>>,
    /// Bandwidth until then.
    pub absorbing_bytes_per_s: Option<Interval<f64>>,
    /// Bandwidth after it.
    pub sustained_bytes_per_s: Option<Interval<f64>>,
    /// Idle time after which it absorbs half of that again, at 90 % of the speed or more; `null` when it was not found.
    pub drain_ns: Option<Interval<u64>>,
    /// Time of a flush right after the cache had been filled.
    pub flush_of_full_cache_ns: Option<u64>,
    /// The four patterns with the cache on and off (FlashyDB, C20); models alone, whose settings can be changed.
    pub settings: Vec<CacheSetting>,
}

/// A pattern with the write cache on, or off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheSetting {
    /// Whether writes are acknowledged from the cache.
    pub cache_on: bool,
    /// `sequential` or `random`.
    pub pattern: String,
    /// Reading or writing.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bandwidth.
    pub bandwidth_bytes_per_s: f64,
    /// Latency.
    pub latency_ns: LatencySummary,
}
