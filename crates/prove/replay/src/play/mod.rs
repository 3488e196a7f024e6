//! Plays a trace's own requests, reads too, on a device: at the trace's times, or as fast as they go, and says how long each took.
//!
//! A request's *response* counts from when it was due, its *service* from when it was sent. What waits because as many are in
//! flight as may be is held, and that is part of its response; so is what the host sends late, which is counted apart.

mod ahead;
mod behind;
mod error;
mod file;
mod memory;
mod outcome;
mod pairs;
mod places;
mod player;
mod requests;
mod selection;
mod survey;
mod timing;

pub use behind::FellBehind;
pub use error::PlayError;
pub use file::{
    Compared, OperationPlayed, PLAY_SCHEMA_VERSION, PlayFile, PlayedDistribution, QuantilePoint, ScheduleKept,
};
pub use outcome::Played;
pub use places::{Places, PlayAddresses};
pub use player::{PlayOptions, PlayWatcher, PlayedRequest, play};
pub use selection::Selection;
pub use survey::{AREA_BYTES, Survey};
pub use timing::Timing;
