use serde::{Deserialize, Serialize};

use crate::Interval;

/// How the device follows sequential reading, one request at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadAhead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Random reads per second, for comparison.
    pub random_iops: Option<Interval<f64>>,
    /// Several sequential streams in turns, one request of each at a time.
    pub streams: Vec<StreamCost>,
    /// The most streams that together are nearer to one stream's speed than to random reading's, on a scale of ratios;
    /// `null` when one stream gains nothing either.
    pub stream_count_max: Option<Interval<u32>>,
    /// Latency of the first, second, … read of a sequential run, median.
    pub latency_by_position_ns: Vec<u64>,
    /// Requests in a row after which the device has read ahead; `null` when it was not seen to.
    pub detected_after_requests: Option<u32>,
}

/// Interleaved sequential streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamCost {
    /// Number of streams.
    pub streams: u32,
    /// Reads per second of all together.
    pub iops: Interval<f64>,
    /// By that of random reading.
    pub gain: Interval<f64>,
}
