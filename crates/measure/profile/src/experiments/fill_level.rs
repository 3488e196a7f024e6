use serde::{Deserialize, Serialize};

use crate::OperationKind;

/// The four patterns before and after writing for long, at several fill levels (FlashyDB, C23).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillLevels {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding of the random patterns; sequential ones have one.
    pub queue_depth: u32,
    /// The levels, in the order in which they were measured.
    pub levels: Vec<FillLevel>,
}

/// One fill level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillLevel {
    /// Share of the device that holds data.
    pub fill_share: f64,
    /// Bytes written at random between before and after.
    pub random_bytes_written: u64,
    /// Bytes written in sequence after that, whose bandwidth is that of sequential writing afterwards.
    pub sequential_bytes_written: u64,
    /// What changed.
    pub changes: Vec<FillChange>,
}

/// One pattern before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillChange {
    /// `sequential` or `random`.
    pub pattern: String,
    /// Reading or writing.
    pub operation: OperationKind,
    /// Bandwidth when the data had just been written in sequence.
    pub before_bytes_per_s: f64,
    /// Bandwidth after the writing.
    pub after_bytes_per_s: f64,
}

impl FillChange {
    /// After by before, less one: −0.5 has lost half.
    pub fn change(&self) -> f64 {
        self.after_bytes_per_s / self.before_bytes_per_s - 1.0
    }
}
