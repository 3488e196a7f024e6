//! Replays the page writes of a block trace through page stores of several policies, on the same
//! pages and equal devices, and compares their times. Also [plays](play) the original requests of a
//! trace. It must never open a device: the caller supplies the worlds.
//!
//! - [`Work`] is the trace, converted to page operations.
//! - A [`Candidate`] is a store on its own device that performs the work in stretches.
//! - [`replay`] lets candidates take turns, so that noise of the machine affects all of them alike.
//!   It then reads every written page back.
//! - A [`ReplayFile`] is the result as JSON, which [`read_replay`] reads.

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
pub use comparison::{Comparison, Failure, Outcomes, Watcher, replay, with_speedups};
pub use error::ReplayError;
#[cfg(feature = "schema")]
pub use file::replay_schema;
pub use file::{
    AddressesUsed, CostFigure, OmittedPolicy, PolicyDecision, PolicyTime, REPLAY_BYTES_MAX,
    REPLAY_SCHEMA_VERSION, ReplayFile, ReplayFileError, ResultKind, WriteCostsUsed, read_play, read_replay,
};
pub use outcome::{AutoFindings, DriveFigures, InstanceCounts, Method, PolicyOutcome, Sample};
pub use repeats::{Repeats, merge_repeats};
pub use usage::StoreUsage;
pub use words::promises_in_words;
pub use work::{CompactionFigures, Step, Work, WorkOptions};
