//! The knowledge of an exhaustive sweep in a minute: search, not enumeration.
//!
//! Cells are measured in slices of about a tenth of a second, interleaved in random order, with a reference cell
//! among them that shows how the device drifts (`slices`). First comes a skeleton of the grid, then a bisection
//! for each block size's knee; what is left of the budget goes to the cells of which least is known, and to those on
//! which an undecided comparison hangs (`schedule`). A curve is fitted to random reading (`fit`), and what it misses
//! is spread over neighbouring cells (`kriging`), which averages noise out and fills in the cells between. Each
//! derived parameter is computed on many surfaces drawn from what that leaves possible, which gives its interval
//! (`surface`, [`mod@derive`]).

mod covariance;
pub mod derive;
mod estimate;
mod first_touch;
mod fit;
mod grid;
mod knowledge;
mod kriging;
mod left_out;
mod pace;
mod probe;
mod schedule;
mod slices;
mod statistic;
mod surface;

#[cfg(test)]
mod tests;

pub use fit::Curve;
pub use grid::{CellKey, Grid, Order};
pub use probe::{Findings, ProbeOptions, probe};
pub use statistic::{Statistic, Without};
pub use surface::{Surface, Surfaces};
