//! Search for the figures of an exhaustive sweep within a minute.
//!
//! Cells are measured in slices of about a tenth of a second, interleaved in random order. A
//! reference cell among them shows how the device drifts (`slices`). First comes a skeleton of the
//! grid, then a bisection for the knee of each block size. The remaining budget goes to the least
//! certain cells and to undecided comparisons (`schedule`). A curve is fitted to random reads
//! (`fit`), and its residuals are smoothed over neighbouring cells (`kriging`), which averages out
//! noise and fills in the cells between. Each derived parameter is computed on many surfaces drawn
//! from the remaining uncertainty, which gives its interval (`surface`, [`mod@derive`]).

mod ablation;
mod covariance;
pub mod derive;
mod estimate;
mod first_touch;
mod fit;
mod grid;
mod kriging;
mod pace;
mod probe;
mod read_model;
mod schedule;
mod slices;
mod statistic;
mod surface;

#[cfg(test)]
mod tests;

pub use fit::Curve;
pub use grid::{CellKey, Grid, Order};
pub use probe::{Findings, ProbeOptions, probe};
pub use statistic::{OmittedStatistics, Statistic};
pub use surface::{Surface, Surfaces};
