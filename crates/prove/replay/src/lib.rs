//! Replays the page writes of a block trace through page stores of several policies, on the same pages and the same
//! kind of device, and says what each took. It must never open a file or a device: who calls it brings the worlds.
//!
//! - [`Work`] is what a trace asks for, in pages.
//! - A [`Candidate`] is a store on a device of its own that does the work, a stretch at a time.
//! - [`replay`] lets several take turns, stretch by stretch, so that what a noisy machine does to one it does to all, and
//!   then reads every written page back.

mod addresses;
mod candidate;
mod comparison;
mod contents;
mod cursor;
mod error;
mod fold;
mod outcome;
mod versions;
mod words;
mod work;

pub use addresses::Addresses;
pub use candidate::{Candidate, CandidateOptions, Durability};
pub use comparison::{Comparison, Failure, Outcomes, Watcher, beside_direct, replay};
pub use error::ReplayError;
pub use outcome::{AutoFindings, DriveFigures, InstanceCounts, LatencySummary, PolicyOutcome, Sample};
pub use words::promises_in_words;
pub use work::{Compacted, Step, Work, WorkOptions};
