use serde::{Deserialize, Serialize};

use crate::OperationKind;

/// Four patterns before and after sustained writes, at several fill levels (FlashyDB, C23).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillLevels {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth of random patterns; sequential ones use depth 1.
    pub queue_depth: u32,
    /// Fill levels in the order of measurement.
    pub levels: Vec<FillLevel>,
}

/// One fill level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillLevel {
    /// Share of the device that holds data.
    pub fill_share: f64,
    /// Bytes of random writes between the two measurements.
    pub random_bytes_written: u64,
    /// Bytes of the sequential writes after that, which give the second bandwidth of sequential
    /// writes.
    pub sequential_bytes_written: u64,
    /// Changes by pattern.
    pub changes: Vec<FillChange>,
}

/// One pattern before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillChange {
    /// `sequential` or `random`.
    pub pattern: String,
    /// Read or write.
    pub operation: OperationKind,
    /// Bandwidth right after the data was written sequentially.
    pub before_bytes_per_s: f64,
    /// Bandwidth after the random writes.
    pub after_bytes_per_s: f64,
}

impl FillChange {
    /// Relative change: −0.5 means half of the bandwidth is lost.
    pub fn change(&self) -> f64 {
        self.after_bytes_per_s / self.before_bytes_per_s - 1.0
    }
}
