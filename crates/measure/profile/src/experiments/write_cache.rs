use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary, OperationKind};

/// Writes that the device absorbs before its speed falls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCacheFindings {
    /// Bytes of one write.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Bytes absorbed at the higher speed; `null` if the speed didn't change.
    pub absorbed_bytes: Option<Interval<u64>>,
    /// Bandwidth while absorbing.
    pub absorbing_bytes_per_s: Option<Interval<f64>>,
    /// Bandwidth after that.
    pub sustained_bytes_per_s: Option<Interval<f64>>,
    /// Idle time after which the device absorbs half of that again, at 90 % of the speed or more;
    /// `null` if it wasn't found.
    pub drain_ns: Option<Interval<u64>>,
    /// Time of a flush right after the cache was filled.
    pub flush_of_full_cache_ns: Option<u64>,
    /// Four patterns with the cache on and off (FlashyDB, C20). Only for models, whose settings can
    /// be changed.
    pub settings: Vec<CacheSetting>,
}

/// A pattern with the write cache on or off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheSetting {
    /// True if writes are acknowledged from the cache.
    pub cache_on: bool,
    /// `sequential` or `random`.
    pub pattern: String,
    /// Read or write.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Bandwidth.
    pub bandwidth_bytes_per_s: f64,
    /// Latency of a request.
    pub latency_ns: LatencySummary,
}
