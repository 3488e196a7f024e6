use serde::{Deserialize, Serialize};

use crate::{
    CommitTime, FlexibleIo, GroupCommitGain, InterferenceLimit, Interval, SteadyStateFigures,
    WritePatternCost,
};

/// What follows from the measured cells. A value that could not be concluded is `null` or missing from its
/// list, and `partial` of the profile says why. "Near full" is within 10 % of the best bandwidth seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Derived {
    /// Best bandwidth of random reading, any block size and depth.
    pub random_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// Best bandwidth of sequential reading.
    pub sequential_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// Most random reads per second, any block size and depth.
    pub random_read_iops_max: Option<Interval<f64>>,
    /// Latency of one random read of the smallest block at depth 1, median.
    pub random_read_latency_ns: Option<u64>,
    /// Smallest block of random reading that is near full at the best depth (DIAT, C1).
    pub efficient_block_bytes: Option<Interval<u64>>,
    /// The same for each depth, where some block is near full at that depth.
    pub efficient_block_by_depth: Vec<BlockAtDepth>,
    /// For each block size the least depth whose bandwidth is within 10 % of that block size's plateau (C2, C5).
    pub saturating_queue_depth: Vec<DepthForBlock>,
    /// Where random reading is as fast as sequential reading and both near full (C11).
    pub random_equals_sequential: Vec<EqualRegion>,
    /// What reading in groups costs against group 1 (C8, C9).
    pub group_penalty: Vec<GroupPenalty>,
    /// Where the kernel splits a request.
    pub split_bytes: Option<SplitSize>,
    /// The flexible I/O unit (DIAT §1.2, C12).
    pub flexible_io: Option<FlexibleIo>,
    /// Best bandwidth of sequential writing, in large requests with several outstanding.
    #[serde(default)]
    pub sequential_write_bandwidth_bytes_per_s_max: Option<Interval<f64>>,
    /// What a write costs in each pattern (`StableBuffer` §3.1).
    #[serde(default)]
    pub write_pattern_cost: Option<WritePatternCost>,
    /// The largest area in which random writes stay cheap.
    #[serde(default)]
    pub focused_area_bytes: Option<Interval<u64>>,
    /// The most sequential streams that stay cheap when they are interleaved.
    #[serde(default)]
    pub partition_count_max: Option<Interval<u32>>,
    /// Strides, in blocks, at which writing stays cheap (`StableBuffer` §3.1: at most 4 times sequential writing, and
    /// surely at most 8 times).
    #[serde(default)]
    pub cheap_strides_blocks: Vec<i64>,
    /// What a database's commit takes: `fdatasync` on a file that is written over, or what comes next to it.
    #[serde(default)]
    pub commit_ns: Option<CommitTime>,
    /// What makes a write durable soonest, on the device itself.
    #[serde(default)]
    pub flush_ns: Option<CommitTime>,
    /// What sharing a flush gains.
    #[serde(default)]
    pub group_commit: Option<GroupCommitGain>,
    /// What random writing gives for long.
    #[serde(default)]
    pub steady_state: Option<SteadyStateFigures>,
    /// How much may be written before reads suffer.
    #[serde(default)]
    pub interference: Option<InterferenceLimit>,
    /// The block below which a smaller request costs more than a larger one, reading or writing (read-modify-write).
    #[serde(default)]
    pub smallest_block_bytes: Option<Interval<u64>>,
}

/// The least depth that saturates a block size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepthForBlock {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// The depth, with its interval.
    pub queue_depth: Interval<u32>,
    /// The plateau: the best bandwidth of this block size.
    pub plateau_bytes_per_s: Interval<f64>,
    /// Whether the plateau was seen; otherwise bandwidth still grew at the greatest depth tried, and
    /// `queue_depth` is a lower bound.
    pub plateau_reached: bool,
}

/// The smallest near-full block at a depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAtDepth {
    /// Requests outstanding.
    pub queue_depth: u32,
    /// The block, with its interval.
    pub block_bytes: Interval<u64>,
}

/// A combination at which random reading equals sequential reading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EqualRegion {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// The least depth from which on it holds.
    pub queue_depth_min: u32,
    /// Random by sequential bandwidth at that depth.
    pub ratio: Interval<f64>,
}

/// Bandwidth in groups relative to group 1 of the same block size and depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupPenalty {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Bandwidth by that of group 1: below 1 is a penalty, above 1 a gain.
    pub ratio: Interval<f64>,
}

/// Where a request is split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitSize {
    /// What sysfs says (`max_sectors_kb`).
    pub stated_bytes: Option<u64>,
    /// What the curve of random reading shows; `null` when it shows no sign of a split.
    pub seen: Option<SplitObservation>,
}

/// A sign of a split in the curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitObservation {
    /// The largest block that shows no sign of it.
    pub whole_bytes: u64,
    /// Bandwidth of the next larger block by that of this one, at the depth of the sign.
    #[serde(default)]
    pub ratio: Option<Interval<f64>>,
    /// What was seen, in a sentence.
    pub sign: String,
}
