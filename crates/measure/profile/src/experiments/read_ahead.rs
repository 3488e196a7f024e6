use serde::{Deserialize, Serialize};

use crate::Interval;

/// Read-ahead of the device for sequential reads, one request at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadAhead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Random reads per second, for comparison.
    pub random_iops: Option<Interval<f64>>,
    /// Interleaved sequential streams with one outstanding read each.
    pub streams: Vec<StreamCost>,
    /// Largest number of streams that are closer to the speed of one stream than to that of random
    /// reads, on a scale of ratios. `null` if even one stream gains nothing.
    pub stream_count_max: Option<Interval<u32>>,
    /// Median latency of the first, second, … read of a sequential run.
    pub latency_by_position_ns: Vec<u64>,
    /// Consecutive requests after which read-ahead starts; `null` if it wasn't observed.
    pub detected_after_requests: Option<u32>,
}

/// Interleaved sequential streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamCost {
    /// Number of streams.
    pub streams: u32,
    /// Reads per second of all streams together.
    pub iops: Interval<f64>,
    /// Ratio to the rate of random reads.
    pub gain: Interval<f64>,
}
