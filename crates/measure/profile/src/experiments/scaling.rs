use serde::{Deserialize, Serialize};

use crate::Interval;

/// Read rate over the number of submitting threads, each with its own queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scaling {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Measured combinations.
    pub cells: Vec<ScalingCell>,
}

/// Result for a number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingCell {
    /// Submitting threads.
    pub threads: u32,
    /// Queue depth of each thread.
    pub queue_depth_per_thread: u32,
    /// Requests per second of all threads together.
    pub iops: Interval<f64>,
    /// Processor time per request.
    pub cpu_ns_per_request: f64,
}
