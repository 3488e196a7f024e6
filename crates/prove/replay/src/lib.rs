//! Replays the page writes of a block trace through page stores of several policies, on the same pages and the same
//! kind of device, and says what each took; or [plays](play) the trace's own requests. It must never open a device: the caller
//! brings the worlds.
//!
//! - [`Work`] is what a trace asks for, in pages.
//! - A [`Candidate`] is a store on a device of its own that does the work, a stretch at a time.
//! - [`replay`] lets several take turns, stretch by stretch, so that what a noisy machine does to one it does to all, and
//!   then reads every written page back.
//! - A [`ReplayFile`] is the result as JSON, which [`read_replay`] reads again.

mod addresses;
mod batches;
mod candidate;
mod comparison;
mod contents;
mod cursor;
mod error;
mod file;
mod fill;
mod fold;
mod outcome;
pub mod play;
mod repeats;
mod times;
mod usage;
mod versions;
mod words;
mod work;

pub use addresses::Addresses;
pub use candidate::{Candidate, CandidateOptions, Durability};
pub use comparison::{Comparison, Failure, Outcomes, Watcher, beside_direct, replay};
pub use error::ReplayError;
#[cfg(feature = "schema")]
pub use file::replay_schema;
pub use file::{
    AddressesUsed, CostFigure, LeftOut, PolicyDecision, PolicyTime, REPLAY_BYTES_MAX, REPLAY_SCHEMA_VERSION,
    ReplayFile, ReplayFileError, ResultKind, WriteCostsUsed, read_play, read_replay,
};
pub use outcome::{AutoFindings, DriveFigures, InstanceCounts, Method, PolicyOutcome, Sample};
pub use repeats::{Repeats, of_repeats};
pub use usage::StoreUsage;
pub use words::promises_in_words;
pub use work::{Compacted, Step, Work, WorkOptions};
