use serde::{Deserialize, Serialize};

use crate::{Backend, Cell, SkippedCell};

/// Version of the sweep's JSON. It increases when a key changes its meaning or disappears.
pub const SWEEP_SCHEMA_VERSION: u32 = 1;

/// Output of `nandle sweep --format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepFile {
    /// Schema version of the program that wrote it.
    pub schema_version: u32,
    /// Target as named by the user.
    pub target: String,
    /// I/O interface used for the measurement.
    pub backend: Backend,
    /// Size of the addressed area.
    pub file_bytes: u64,
    /// Load of each cell, in words: threads, refill or rate, and end of a run. Only cells of the
    /// same load are comparable.
    pub load: String,
    /// Seed of the random patterns.
    pub seed: u64,
    /// True if every planned cell was run or skipped with a reason.
    pub complete: bool,
    /// Measured cells in the order of the plan.
    pub cells: Vec<Cell>,
    /// Skipped cells with the reason.
    pub skipped: Vec<SkippedCell>,
}
