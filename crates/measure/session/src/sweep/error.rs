use nandle_probe::load::LoadError;
use nandle_probe::sweep::PlanError;
use nandle_profile::{Cell, SweepFile};
use nandle_target::TargetError;

use crate::{KeepError, SessionError};

/// A sweep has no results, or incomplete ones.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The target can't be opened or prepared.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A modelled world has one clock and one submitting thread. With more threads, each would get
    /// its own drive.
    #[error(
        "{target}: --threads {threads}: a modelled drive is driven by one thread of its world; leave --threads out, and \
         choose --queue-depths instead"
    )]
    ModelThreads {
        /// Target as named by the user.
        target: String,
        /// Requested number of threads.
        threads: u32,
    },
    /// The parameter space is invalid on the target.
    #[error("{target}: {cause}")]
    Plan {
        /// Target as named by the user.
        target: String,
        /// Cause.
        cause: PlanError,
    },
    /// It ended early, or cells or requests failed.
    #[error("{target}: {end}")]
    Ended {
        /// Target as named by the user.
        target: String,
        /// Kind of end.
        end: SweepEnd,
        /// Results so far.
        file: Box<SweepFile>,
    },
}

/// Reason for incomplete results of a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepEnd {
    /// It was cancelled.
    #[error("interrupted after {measured} of {cells} cells")]
    Interrupted {
        /// Measured cells.
        measured: usize,
        /// Total number of cells.
        cells: usize,
    },
    /// The device ended it.
    #[error("{spec}: {cause}")]
    Cell {
        /// Cell at which it ended.
        spec: String,
        /// Cause.
        cause: LoadError,
    },
    /// Whole cells failed; others were measured.
    #[error("every request of {failed} of {cells} cells failed")]
    CellsFailed {
        /// Number of failed cells.
        failed: u32,
        /// Total number of cells.
        cells: usize,
    },
    /// No cell could be measured.
    #[error("no cell was measured; all {skipped} were skipped, the first because {reason}")]
    NothingMeasured {
        /// Number of planned cells.
        skipped: usize,
        /// Reason of the first cell.
        reason: String,
    },
    /// Requests failed while others succeeded.
    #[error(
        "{requests} requests of {failing} of {cells} cells failed, the first with: {reason}; each cell's result says how many"
    )]
    RequestsFailed {
        /// Number of failed requests.
        requests: u64,
        /// Number of cells with failures.
        failing: usize,
        /// Total number of cells.
        cells: usize,
        /// Message of the first failure.
        reason: String,
    },
    /// The results could not be stored.
    #[error(transparent)]
    NotKept(KeepError),
}

impl SweepError {
    /// Results so far, if any.
    pub fn file(&self) -> Option<&SweepFile> {
        match self {
            Self::Ended { file, .. } => Some(file),
            Self::Session(_) | Self::ModelThreads { .. } | Self::Plan { .. } => None,
        }
    }

    /// Returns true if the target may be free soon, see [`TargetError::is_busy`].
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Session(error) if error.is_busy())
    }
}

impl SweepEnd {
    /// Checks the results of a sweep that went through all of its cells.
    pub(super) fn of(file: &SweepFile) -> Option<Self> {
        if let (true, Some(first)) = (file.cells.is_empty(), file.skipped.first()) {
            let (skipped, reason) = (file.skipped.len(), first.reason.clone());
            return Some(Self::NothingMeasured { skipped, reason });
        }
        let failing: Vec<&Cell> = file.cells.iter().filter(|cell| cell.errors > 0).collect();
        let first = failing.first()?.first_error.clone();
        Some(Self::RequestsFailed {
            requests: failing.iter().map(|cell| cell.errors).sum(),
            failing: failing.len(),
            cells: file.cells.len(),
            reason: first.unwrap_or_else(|| "an unknown error".into()),
        })
    }
}

impl From<TargetError> for SweepError {
    fn from(error: TargetError) -> Self {
        Self::Session(error.into())
    }
}
