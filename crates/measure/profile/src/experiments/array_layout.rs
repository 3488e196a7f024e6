use serde::{Deserialize, Serialize};

use crate::Interval;

/// Layout of an array behind the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrayLayout {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Reads whose latencies were compared.
    pub observations: u64,
    /// Chunk size in bytes; `null` if there was no sign of an array.
    pub chunk_bytes: Option<u64>,
    /// Members with different data; a mirrored pair counts as one.
    pub members: Option<u32>,
    /// Read rate of a single member relative to the whole array. It is the inverse of the number of
    /// members if the members are the bottleneck. `null` if no array was found.
    pub one_member_share: Option<Interval<f64>>,
    /// Best layouts, best first.
    pub candidates: Vec<LayoutScore>,
}

/// Score of a layout: its ability to explain slow reads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutScore {
    /// Chunk size in bytes.
    pub chunk_bytes: u64,
    /// Number of members.
    pub members: u32,
    /// Correlation of a read's latency with the number of outstanding reads on the same member.
    pub correlation: f64,
}
