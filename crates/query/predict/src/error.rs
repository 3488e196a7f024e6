use nandle_io::{ArenaError, IoError};
use nandle_reads::ReadsError;
use nandle_session::{ProbeError, SessionError};
use nandle_target::TargetError;
use nandle_units::format_bytes;
use thiserror::Error;

use crate::CostsError;

/// Why a recording can't be played on a target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The target can't be opened.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target can't be made ready.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The target was to be probed, because no profile of it was named.
    #[error("measuring what reads cost: {0}")]
    Probe(#[from] ProbeError),
    /// The profile doesn't say what reads cost.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// The recording's files don't fit.
    #[error(
        "{target} has {} and the recording's files and temporary data take {}; name a larger target, or record fewer queries",
        format_bytes(*capacity_bytes), format_bytes(*needed_bytes)
    )]
    TooSmall {
        /// The target.
        target: String,
        /// What the files take.
        needed_bytes: u64,
        /// What there is.
        capacity_bytes: u64,
    },
    /// Reads can't be planned or failed.
    #[error(transparent)]
    Reads(#[from] ReadsError),
    /// There is no memory for temporary data.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// It was cancelled.
    #[error("interrupted; a prediction keeps no partial results")]
    Cancelled,
    /// Temporary data could not be written or read.
    #[error("temporary data: {0}")]
    Spill(#[from] IoError),
}
