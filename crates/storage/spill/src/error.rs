use nandle_io::{ArenaError, IoError};
use nandle_units::format_bytes;

/// Failure of an operator. Dropping the operator releases its memory and its temporary space.
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
        /// Purpose of the memory.
        purpose: &'static str,
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// Size of the budget, in bytes.
        budget_bytes: u64,
    },
    /// The system refused to map memory.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The temporary space is full.
    #[error(
        "the temporary space of {} is full: at least {} are needed",
        format_bytes(*space_bytes),
        format_bytes(*needed_bytes)
    )]
    Full {
        /// Bytes used plus bytes requested.
        needed_bytes: u64,
        /// Size of the temporary space, in bytes.
        space_bytes: u64,
    },
    /// The device of the temporary space failed.
    #[error("temporary space: {0}")]
    Io(#[from] IoError),
    /// An earlier call failed.
    #[error("an earlier call failed; start again")]
    Failed,
    /// A cluster read back differs from the cluster written.
    #[error("temporary space: the cluster at offset {offset_bytes} is damaged: {what}")]
    Damaged {
        /// Offset of the cluster on the device, in bytes.
        offset_bytes: u64,
        /// Defect that was found.
        what: &'static str,
    },
    /// An option is invalid, or the device can't do what it asks for.
    #[error("{what}: {got}; {expected}")]
    Options {
        /// Name of the option.
        what: &'static str,
        /// Value given.
        got: String,
        /// Values allowed.
        expected: String,
    },
}
