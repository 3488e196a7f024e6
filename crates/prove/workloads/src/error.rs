use nandle_io::{ArenaError, IoError};
use nandle_spill::SpillError;
use nandle_units::format_bytes;

use crate::Role;

/// A workload could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The sort or join failed.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// The device of the input or the output failed.
    #[error("{}: {source}", role.name())]
    Io {
        /// Which of them.
        role: Role,
        /// What it said.
        source: IoError,
    },
    /// The system gave no memory.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// What was asked for makes no sense.
    #[error("{what}: {got}; expected {expected}")]
    Options {
        /// Which option.
        what: &'static str,
        /// What it was.
        got: u64,
        /// What it may be.
        expected: String,
    },
    /// A device has no room for its areas.
    #[error(
        "the areas of input, temporary data and output take {}, and the device has {}: fewer rows would fit",
        format_bytes(*needed_bytes),
        format_bytes(*capacity_bytes)
    )]
    TooSmall {
        /// Where the last area ends.
        needed_bytes: u64,
        /// What there is.
        capacity_bytes: u64,
    },
    /// The result isn't what it has to be: a device gave back what was never written to it, or the sort or join is wrong.
    #[error("the result is wrong: {what}")]
    Wrong {
        /// What is wrong with it.
        what: String,
    },
    /// The caller wants no more of it.
    #[error("interrupted")]
    Cancelled,
}
