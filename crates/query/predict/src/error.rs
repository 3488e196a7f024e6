use nandle_io::{ArenaError, IoError};
use nandle_reads::ReadsError;
use nandle_session::{ProbeError, SessionError};
use nandle_target::TargetError;
use nandle_units::format_bytes;
use thiserror::Error;

use crate::CostsError;

/// Error of a prediction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The target can't be opened.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target can't be prepared.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The probe of the target failed; it ran because no profile was given.
    #[error("measuring what reads cost: {0}")]
    Probe(#[from] ProbeError),
    /// The profile lacks costs of reads.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// The recording's files don't fit on the target.
    #[error(
        "{target} has {} and the recording's files and temporary data take {}; name a larger target, or record fewer queries",
        format_bytes(*capacity_bytes), format_bytes(*needed_bytes)
    )]
    TooSmall {
        /// The target.
        target: String,
        /// Bytes needed.
        needed_bytes: u64,
        /// Bytes available.
        capacity_bytes: u64,
    },
    /// Reads can't be planned, or failed.
    #[error(transparent)]
    Reads(#[from] ReadsError),
    /// Memory for temporary data can't be allocated.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The prediction was cancelled.
    #[error("interrupted; a prediction keeps no partial results")]
    Cancelled,
    /// Temporary data can't be written or read.
    #[error("temporary data: {0}")]
    Spill(#[from] IoError),
}
