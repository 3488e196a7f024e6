use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary, OperationKind};

/// What writing in each pattern costs (uFLIP's nine micro-benchmarks, Bouganim, Jónsson, Bonnet, CIDR 2009; the four good
/// patterns of `StableBuffer` §3.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WritePatterns {
    /// Bytes of one request, where a row doesn't say otherwise.
    pub block_bytes: u64,
    /// The area in which everything was written.
    pub area_bytes: u64,
    /// The state that the device was brought into before anything was measured.
    pub state: DeviceState,
    /// Every pattern that was measured.
    pub patterns: Vec<PatternCost>,
}

/// How a device was prepared, so that what is measured doesn't depend on what was done to it before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceState {
    /// Bytes written in sequence over the area.
    pub sequential_bytes_written: u64,
    /// Those by the size of the area; below 1 the state depends on the past in part.
    pub share_of_area: f64,
}

/// One row: a pattern, and what a request in it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternCost {
    /// Which question the row belongs to.
    pub micro_benchmark: MicroBenchmark,
    /// The address pattern (`sequential`, `focused:8MiB` …).
    pub pattern: String,
    /// Reading, writing or a mix of them.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// By how much every offset is shifted from a multiple of the block.
    pub shift_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Pause after each request, or after each burst.
    pub pause_ns: u64,
    /// Requests between two pauses; 0 where there are none.
    pub burst_requests: u64,
    /// Requests of the start-up phase, which don't count.
    pub start_up_requests: u64,
    /// Requests of the running phase.
    pub requests: u64,
    /// Mean time of a request in the running phase: elapsed time less pauses by requests.
    pub request_ns: Interval<f64>,
    /// The same by that of sequential writing in blocks of the same size at the same depth; `null` where that was not measured.
    pub relative_cost: Option<Interval<f64>>,
    /// Latency of each request in the running phase.
    pub latency_ns: LatencySummary,
}

/// uFLIP's micro-benchmarks; the parameter that each varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MicroBenchmark {
    /// Sequential and random reading and writing, as the others' measure.
    Baseline,
    /// The size of a request.
    Granularity,
    /// The shift of offsets from multiples of the block.
    Alignment,
    /// The size of the area in which random writes stay.
    Locality,
    /// The number of sequential streams.
    Partitioning,
    /// The stride; 0 writes the same block again and again.
    Order,
    /// Requests outstanding.
    Parallelism,
    /// The share of reads.
    Mix,
    /// The pause between requests.
    Pause,
    /// The number of requests between pauses.
    Bursts,
}
