//! Plays the original requests of a trace, including reads, on a device. Requests are sent at the
//! trace's times or as fast as possible, and their times are measured.
//!
//! The *response time* of a request counts from its due time, the *service time* from when it was
//! sent. A request that waits because the queue is full is held, and the wait is part of its
//! response time. So is a delay by the host, which is counted separately.

mod address_map;
mod error;
mod file;
mod memory;
mod outcome;
mod pairs;
mod player;
mod read_ahead;
mod requests;
mod schedule_lag;
mod selection;
mod survey;
mod timing;

pub use address_map::{AddressMap, PlayAddresses};
pub use error::PlayError;
pub use file::{
    OperationFigures, PLAY_SCHEMA_VERSION, PlayDistribution, PlayFile, QuantilePoint, RecordedComparison,
    ScheduleFigures,
};
pub use outcome::PlaySummary;
pub use player::{CompletedRequest, PlayOptions, PlayWatcher, play};
pub use schedule_lag::ScheduleLag;
pub use selection::Selection;
pub use survey::{AREA_BYTES, Survey};
pub use timing::Timing;
