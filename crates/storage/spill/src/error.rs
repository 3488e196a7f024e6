use nandle_io::{ArenaError, IoError};
use nandle_units::format_bytes;

/// An operator could not go on. Its memory and its temporary space have been given back when the operator is dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// The budget is too small.
    #[error(
        "{purpose} needs {} of memory, and the budget is {}: raise it to at least that",
        format_bytes(*needed_bytes),
        format_bytes(*budget_bytes)
    )]
    Memory {
        /// What for.
        purpose: &'static str,
        /// The least budget that would do.
        needed_bytes: u64,
        /// What there is.
        budget_bytes: u64,
    },
    /// The system gave no memory.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The temporary space is full.
    #[error(
        "the temporary space of {} is full: at least {} are needed",
        format_bytes(*space_bytes),
        format_bytes(*needed_bytes)
    )]
    Full {
        /// What is used and what was asked for.
        needed_bytes: u64,
        /// What there is.
        space_bytes: u64,
    },
    /// The device of the temporary space failed.
    #[error("temporary space: {0}")]
    Io(#[from] IoError),
    /// An earlier call failed.
    #[error("an earlier call failed: drop this and begin again")]
    Failed,
    /// A cluster isn't what was written.
    #[error("temporary space: the cluster at offset {offset_bytes} is not what was written there: {what}")]
    Damaged {
        /// Where it lies on the device.
        offset_bytes: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// What was asked for makes no sense, or the device can't do it.
    #[error("{what}: {got}; {expected}")]
    Options {
        /// Which option.
        what: &'static str,
        /// What it was.
        got: String,
        /// What it may be.
        expected: String,
    },
}
