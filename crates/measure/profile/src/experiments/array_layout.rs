use serde::{Deserialize, Serialize};

use crate::Interval;

/// How an array behind the device lays out addresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrayLayout {
    /// Bytes of one read.
    pub block_bytes: u64,
    /// Reads outstanding.
    pub queue_depth: u32,
    /// Reads whose latencies were compared.
    pub observations: u64,
    /// Bytes on one member before the next member's turn; `null` when there was no sign of an array.
    pub chunk_bytes: Option<u64>,
    /// Members that hold different data: of a mirrored pair one.
    pub members: Option<u32>,
    /// Reads per second when all go to one of the members, by those over all of them; one by the number of members
    /// where a member is what limits them. `null` where no array was seen.
    pub one_member_share: Option<Interval<f64>>,
    /// The layouts that explain the latencies best, the best first.
    pub candidates: Vec<LayoutScore>,
}

/// How well a layout explains why some reads took longer than others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutScore {
    /// Bytes on one member before the next member's turn.
    pub chunk_bytes: u64,
    /// Members.
    pub members: u32,
    /// Correlation of a read's latency with the number of reads outstanding on the same member.
    pub correlation: f64,
}
