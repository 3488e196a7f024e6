//! Exhaustive sweep (DIAT §1.1): all combinations of pattern, block size, group size and queue
//! depth.

mod cell;
mod options;
mod plan;
mod preset;
mod run;

#[cfg(test)]
mod tests;

pub use cell::to_cell;
pub use options::{OpenLoopRate, SweepOptions};
pub use plan::{CellSpec, PlanError, SweepPlan, plan};
pub use preset::{Preset, Space};
pub use run::{SweepContext, run_cell};
