use nandle_probe::load::LoadError;
use nandle_probe::sweep::PlanError;
use nandle_profile::{Cell, SweepFile};
use nandle_target::TargetError;

use crate::{KeepError, SessionError};

/// A sweep has no results, or not all that were planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The target can't be opened, or not be made ready.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A modelled world has one clock and one thread that submits: more threads would each have a drive of their own.
    #[error(
        "{target}: --threads {threads}: a modelled drive is driven by one thread of its world; leave --threads out, and \
         choose --queue-depths instead"
    )]
    ModelThreads {
        /// What the user named.
        target: String,
        /// How many were asked for.
        threads: u32,
    },
    /// The parameter space makes no sense on the target.
    #[error("{target}: {cause}")]
    Plan {
        /// What the user named.
        target: String,
        /// Why not.
        cause: PlanError,
    },
    /// It ended early, or cells or requests failed.
    #[error("{target}: {end}")]
    Ended {
        /// The target.
        target: String,
        /// What happened.
        end: SweepEnd,
        /// The results until then.
        file: Box<SweepFile>,
    },
}

/// Why a sweep's results are not all that was planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepEnd {
    /// It was cancelled.
    #[error("interrupted after {measured} of {cells} cells")]
    Interrupted {
        /// Cells that were measured.
        measured: usize,
        /// Cells in all.
        cells: usize,
    },
    /// The device ended it.
    #[error("{spec}: {cause}")]
    Cell {
        /// At which cell.
        spec: String,
        /// How.
        cause: LoadError,
    },
    /// Whole cells failed; the others were measured.
    #[error("every request of {failed} of {cells} cells failed")]
    CellsFailed {
        /// How many.
        failed: u32,
        /// Of how many.
        cells: usize,
    },
    /// No cell could be measured, whatever the reasons.
    #[error("no cell was measured; all {skipped} were skipped, the first because {reason}")]
    NothingMeasured {
        /// How many cells were planned.
        skipped: usize,
        /// Why the first was not.
        reason: String,
    },
    /// Requests failed while others were answered.
    #[error(
        "{requests} requests of {failing} of {cells} cells failed, the first with: {reason}; each cell's result says how many"
    )]
    RequestsFailed {
        /// How many.
        requests: u64,
        /// In how many cells.
        failing: usize,
        /// Cells in all.
        cells: usize,
        /// The first failure.
        reason: String,
    },
    /// The results could not be kept.
    #[error(transparent)]
    NotKept(KeepError),
}

impl SweepError {
    /// The results until it ended; `None` where there are none.
    pub fn file(&self) -> Option<&SweepFile> {
        match self {
            Self::Ended { file, .. } => Some(file),
            Self::Session(_) | Self::ModelThreads { .. } | Self::Plan { .. } => None,
        }
    }

    /// Whether the target may be free in a moment, see [`TargetError::is_busy`].
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Session(error) if error.is_busy())
    }
}

impl SweepEnd {
    /// What is wrong with the results of a sweep that went through all of its cells.
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
