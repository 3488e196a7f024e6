use nandle_io::{ArenaError, IoError};
use nandle_spill::SpillError;
use nandle_units::format_bytes;

use crate::Role;

/// Failure of a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The sort or join failed.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// The device of the input or the output failed.
    #[error("{}: {source}", role.name())]
    Io {
        /// Part of the workload.
        role: Role,
        /// Error of the device.
        source: IoError,
    },
    /// The system refused to map memory.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// An option is invalid.
    #[error("{what}: {got}; expected {expected}")]
    Options {
        /// Name of the option.
        what: &'static str,
        /// Value given.
        got: u64,
        /// Values allowed.
        expected: String,
    },
    /// A device has no room for its areas.
    #[error(
        "input, temporary data and output need {}, but the device has {}: use fewer rows",
        format_bytes(*needed_bytes),
        format_bytes(*capacity_bytes)
    )]
    TooSmall {
        /// End of the last area, in bytes.
        needed_bytes: u64,
        /// Capacity of the device, in bytes.
        capacity_bytes: u64,
    },
    /// The result is incorrect: a device returned other data than was written, or the sort or join
    /// has a defect.
    #[error("the result is wrong: {what}")]
    Wrong {
        /// Defect of the result.
        what: String,
    },
    /// The caller cancelled the run.
    #[error("interrupted")]
    Cancelled,
}
