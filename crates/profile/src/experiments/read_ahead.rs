use serde::{Deserialize, Serialize};

use crate::Interval;

/// How the device follows sequential reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadAhead {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Several sequential streams at once.
    pub streams: Vec<StreamCost>,
    /// The most streams that together keep near the bandwidth of one; `null` when one stream gains nothing either.
    pub stream_count_max: Option<Interval<u32>>,
    /// Requests in a row after which the device reads ahead; `null` when it was not seen to.
    pub detected_after_requests: Option<Interval<u32>>,
}

/// Interleaved sequential streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamCost {
    /// Number of streams.
    pub streams: u32,
    /// Bandwidth of all together.
    pub bandwidth_bytes_per_s: Interval<f64>,
}
