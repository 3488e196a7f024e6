use serde::{Deserialize, Serialize};

use crate::Interval;

/// How an array behind the device lays out addresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrayLayout {
    /// Bytes on one member before the next member's turn; `null` when there was no sign of an array.
    pub chunk_bytes: Option<Interval<u64>>,
    /// Members that hold different data.
    pub members: Option<Interval<u32>>,
    /// What was measured.
    pub distances: Vec<DistanceCost>,
}

/// Two requests at once, at a distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistanceCost {
    /// Distance between their offsets.
    pub distance_bytes: u64,
    /// Time of the pair by the time of one alone.
    pub relative_time: Interval<f64>,
}
