//! Replays of recorded reads on real or modelled devices, and read costs derived from device
//! profiles. Times come from the worlds in which recordings are played. The crate must never read
//! the system's clock, and never assume a figure that a profile lacks.

mod batches;
mod costs;
mod error;
mod file;
mod layout;
mod play;
mod player;
mod predict;
mod spill;
mod spread;

pub use costs::{CostsError, MissingFigure, host_costs, read_costs};
pub use error::PredictError;
pub use file::{PREDICTION_SCHEMA_VERSION, PredictionFile, QueryPrediction, TargetPrediction};
pub use layout::Layout;
pub use play::{Play, PlayedQuery, play};
pub use player::{CostsSource, MODEL_PROBE_BUDGET, Player, PlayerOptions, REAL_PROBE_BUDGET};
pub use predict::{How, predict_on};
pub use spread::next_of;
