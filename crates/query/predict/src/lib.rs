//! Recordings of reads on devices that one has or hasn't, and what a profile says that reads cost. Times come from the worlds that
//! recordings are played in; it must never read the system's clock, and never assume a figure that a profile lacks.

mod costs;
mod measure;

pub use costs::{CostsError, MissingFigure, read_costs};
pub use measure::{MODEL_BUDGET, MeasureError, MeasuredCosts, REAL_BUDGET, measure_costs};
