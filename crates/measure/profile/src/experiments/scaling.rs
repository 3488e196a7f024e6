use serde::{Deserialize, Serialize};

use crate::Interval;

/// What more submitting threads give, each with a queue of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scaling {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// The cells.
    pub cells: Vec<ScalingCell>,
}

/// A number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingCell {
    /// Submitting threads.
    pub threads: u32,
    /// Requests outstanding of each thread.
    pub queue_depth_per_thread: u32,
    /// Requests per second of all.
    pub iops: Interval<f64>,
    /// Processor time of one request.
    pub cpu_ns_per_request: f64,
}
