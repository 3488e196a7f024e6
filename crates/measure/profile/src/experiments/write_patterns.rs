use serde::{Deserialize, Serialize};

use crate::{Interval, LatencySummary, OperationKind};

/// Cost of writes in each pattern (uFLIP's nine micro-benchmarks, Bouganim, Jónsson, Bonnet, CIDR
/// 2009; the four good patterns of `StableBuffer` §3.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WritePatterns {
    /// Bytes of one request, unless a row differs.
    pub block_bytes: u64,
    /// Size of the area of all writes.
    pub area_bytes: u64,
    /// State of the device before the first measurement.
    pub state: DeviceState,
    /// All measured patterns.
    pub patterns: Vec<PatternCost>,
}

/// Preparation of a device, which makes results independent of earlier writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceState {
    /// Bytes written sequentially over the area.
    pub sequential_bytes_written: u64,
    /// These bytes as a share of the area. Below 1 the state partly depends on earlier writes.
    pub share_of_area: f64,
}

/// One row: a pattern with its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternCost {
    /// Micro-benchmark of the row.
    pub micro_benchmark: MicroBenchmark,
    /// Address pattern (`sequential`, `focused:8MiB` …).
    pub pattern: String,
    /// Read, write or a mix.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Shift of all offsets from a multiple of the block.
    pub shift_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Pause after each request, or after each burst.
    pub pause_ns: u64,
    /// Requests between two pauses; 0 without pauses.
    pub burst_requests: u64,
    /// Uncounted requests of the start-up phase.
    pub start_up_requests: u64,
    /// Requests of the running phase.
    pub requests: u64,
    /// Mean time of a request in the running phase, without pauses.
    pub request_ns: Interval<f64>,
    /// Time relative to sequential writes of the same block size at the same depth; `null` if those
    /// weren't measured.
    pub relative_cost: Option<Interval<f64>>,
    /// Latency of each request in the running phase.
    pub latency_ns: LatencySummary,
}

/// uFLIP's micro-benchmarks, named by the parameter that each varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MicroBenchmark {
    /// Sequential and random reads and writes, as the reference of the others.
    Baseline,
    /// Request size.
    Granularity,
    /// Shift of offsets from multiples of the block.
    Alignment,
    /// Size of the area of random writes.
    Locality,
    /// Number of sequential streams.
    Partitioning,
    /// Stride; 0 rewrites the same block.
    Order,
    /// Queue depth.
    Parallelism,
    /// Share of reads.
    Mix,
    /// Pause between requests.
    Pause,
    /// Number of requests between pauses.
    Bursts,
}
