use serde::{Deserialize, Serialize};

use crate::{
    CommitTime, FlexibleIo, GroupCommitGain, InterferenceLimit, Interval, SteadyStateFigures,
    WritePatternCost,
};

/// Figures derived from the measured cells. If a figure couldn't be derived, it is `null` or
/// missing from its list, and the profile's `partial` gives the reason. "Near full" means within 10
/// % of the best bandwidth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Derived {
    /// Best bandwidth of random reads, over all block sizes and depths.
    pub random_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// Best bandwidth of sequential reads.
    pub sequential_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// Highest rate of random reads per second, over all block sizes and depths.
    pub random_read_iops_max: Option<Interval<f64>>,
    /// Median latency of a random read of the smallest block at depth 1.
    pub random_read_latency_ns: Option<u64>,
    /// Smallest block of random reads near full bandwidth at the best depth (DIAT, C1).
    pub efficient_block_bytes: Option<Interval<u64>>,
    /// Smallest block near full bandwidth at each depth where one exists.
    pub efficient_block_by_depth: Vec<BlockAtDepth>,
    /// Smallest depth of each block size within 10 % of its plateau (C2, C5).
    pub saturating_queue_depth: Vec<DepthForBlock>,
    /// Regions where random reads are as fast as sequential ones and both near full bandwidth
    /// (C11).
    pub random_equals_sequential: Vec<EqualRegion>,
    /// Cost of reading in groups, relative to single blocks (C8, C9).
    pub group_penalty: Vec<GroupPenalty>,
    /// Size from which the kernel splits a request.
    pub split_bytes: Option<SplitSize>,
    /// Flexible I/O unit (DIAT §1.2, C12).
    pub flexible_io: Option<FlexibleIo>,
    /// Best bandwidth of large sequential writes with several outstanding.
    #[serde(default)]
    pub sequential_write_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// Cost of a write in each pattern (`StableBuffer` §3.1).
    #[serde(default)]
    pub write_pattern_cost: Option<WritePatternCost>,
    /// Largest area in which random writes are cheap.
    #[serde(default)]
    pub focused_area_bytes: Option<Interval<u64>>,
    /// Largest number of cheap interleaved sequential streams.
    #[serde(default)]
    pub partition_count_max: Option<Interval<u32>>,
    /// Strides in blocks at which writes are cheap (`StableBuffer` §3.1: at most 4 times sequential
    /// writes, with an upper bound of 8 times).
    #[serde(default)]
    pub cheap_strides_blocks: Vec<i64>,
    /// Time of a database's default commit: `fdatasync` on a file that is overwritten, or the most
    /// similar measured method.
    #[serde(default)]
    pub commit_ns: Option<CommitTime>,
    /// Fastest way to make a write durable on the device itself.
    #[serde(default)]
    pub flush_ns: Option<CommitTime>,
    /// Gain of sharing a flush.
    #[serde(default)]
    pub group_commit: Option<GroupCommitGain>,
    /// Sustained random writes.
    #[serde(default)]
    pub steady_state: Option<SteadyStateFigures>,
    /// Write rate up to which reads aren't slowed down much.
    #[serde(default)]
    pub interference: Option<InterferenceLimit>,
    /// Block size below which a smaller request costs more than a larger one, for reads or writes
    /// (read-modify-write).
    #[serde(default)]
    pub smallest_block_bytes: Option<Interval<u64>>,
}

/// Smallest depth that saturates a block size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepthForBlock {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth with its interval.
    pub queue_depth: Interval<u32>,
    /// Plateau: the best bandwidth of this block size.
    pub plateau_bytes_per_s: Interval<f64>,
    /// True if the plateau was reached. Otherwise bandwidth still grew at the greatest depth tried,
    /// and `queue_depth` is a lower bound.
    pub plateau_reached: bool,
}

/// Smallest near-full block at a depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAtDepth {
    /// Queue depth.
    pub queue_depth: u32,
    /// Block size with its interval.
    pub block_bytes: Interval<u64>,
}

/// Combination at which random reads equal sequential ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EqualRegion {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Smallest depth from which this holds.
    pub queue_depth_min: u32,
    /// Random bandwidth divided by sequential bandwidth at that depth.
    pub ratio: Interval<f64>,
}

/// Bandwidth of groups relative to single blocks of the same size and depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupPenalty {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Bandwidth relative to single blocks: below 1 is a penalty, above 1 a gain.
    pub ratio: Interval<f64>,
}

/// Size from which requests are split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitSize {
    /// Value in sysfs (`max_sectors_kb`).
    pub stated_bytes: Option<u64>,
    /// Observation in the curve of random reads; `null` if there is no sign of a split.
    pub seen: Option<SplitObservation>,
}

/// Sign of a split in the curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitObservation {
    /// Largest block without the sign.
    pub whole_bytes: u64,
    /// Bandwidth of the next larger block relative to this one, at the depth of the sign.
    #[serde(default)]
    pub ratio: Option<Interval<f64>>,
    /// The observation in a sentence.
    pub sign: String,
}
