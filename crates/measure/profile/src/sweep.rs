use serde::{Deserialize, Serialize};

use crate::{Backend, Cell, SkippedCell};

/// Version of the sweep's JSON. It rises when a key changes its meaning or disappears.
pub const SWEEP_SCHEMA_VERSION: u32 = 1;

/// What `nandle sweep --format json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepFile {
    /// [`SWEEP_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The target as the user named it.
    pub target: String,
    /// How requests reached the device.
    pub backend: Backend,
    /// Size of the area that was addressed.
    pub file_bytes: u64,
    /// How each cell was loaded, in words: threads, refill or rate, and when a run ended. Cells of another load
    /// aren't comparable.
    pub load: String,
    /// Seed of the random patterns.
    pub seed: u64,
    /// Whether every planned cell was run or skipped with a reason.
    pub complete: bool,
    /// The cells that were run, in the order of the plan.
    pub cells: Vec<Cell>,
    /// The cells that were not run, with the reason.
    pub skipped: Vec<SkippedCell>,
}
