use nandle_io::Nanos;
use nandle_probe::experiments::PlanError;
use nandle_probe::load::LoadError;
use nandle_profile::{DeviceProfile, SkippedExperiment};
use nandle_target::TargetError;
use nandle_units::format_duration;

use super::{BUDGET_MIN, ResumeError};
use crate::{KeepError, SessionError};

/// A probe has no profile, or one that isn't all that was planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The target can't be opened, or not be made ready.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The budget is too short.
    #[error(
        "--budget {}: nothing can be concluded in less than {}; 60s tells most",
        format_duration(*budget), format_duration(BUDGET_MIN)
    )]
    BudgetTooShort {
        /// The budget.
        budget: Nanos,
    },
    /// Everything is left out.
    #[error(
        "{}--skip {}: nothing is left to be measured; skip less, or name other experiments with --only",
        named(only), skip.join(",")
    )]
    AllSkipped {
        /// Those to choose from.
        only: Vec<String>,
        /// Those that are left out.
        skip: Vec<String>,
    },
    /// A name isn't known.
    #[error(transparent)]
    UnknownExperiment(#[from] PlanError),
    /// What was named can't be measured here.
    #[error("nothing is left to be measured: {}", reasons(skipped))]
    NothingPlanned {
        /// What was named, each with the reason.
        skipped: Vec<SkippedExperiment>,
    },
    /// The profile to resume is not of this target.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// It was cancelled before anything was measured.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// It ended before anything was measured.
    #[error("{target}: {cause}")]
    NothingMeasured {
        /// What the user named.
        target: String,
        /// What ended it.
        cause: LoadError,
    },
    /// It ended early, or some requests failed.
    #[error("{target}: {cause}")]
    Ended {
        /// What the user named.
        target: String,
        /// What ended it: [`LoadError::Cancelled`], what the device did, or [`LoadError::SomeFailed`] after all was measured.
        cause: LoadError,
        /// What was measured until then.
        profile: Box<DeviceProfile>,
    },
    /// The profile could not be kept after the last experiment.
    #[error("{source}")]
    NotKept {
        /// Why not.
        source: KeepError,
        /// What was measured.
        profile: Box<DeviceProfile>,
    },
}

impl ProbeError {
    /// What was measured all the same; `None` when nothing was.
    pub fn profile(&self) -> Option<&DeviceProfile> {
        match self {
            Self::Ended { profile, .. } | Self::NotKept { profile, .. } => Some(profile),
            Self::Session(_)
            | Self::BudgetTooShort { .. }
            | Self::AllSkipped { .. }
            | Self::UnknownExperiment(_)
            | Self::NothingPlanned { .. }
            | Self::Resume(_)
            | Self::Interrupted
            | Self::NothingMeasured { .. } => None,
        }
    }

    /// Whether the target may be free in a moment, see [`TargetError::is_busy`].
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Session(error) if error.is_busy())
    }
}

impl From<TargetError> for ProbeError {
    fn from(error: TargetError) -> Self {
        Self::Session(error.into())
    }
}

impl From<LoadError> for ProbeError {
    fn from(error: LoadError) -> Self {
        Self::Session(error.into())
    }
}

/// The list to choose from as the beginning of a message.
fn named(only: &[String]) -> String {
    if only.is_empty() { String::new() } else { format!("--only {} and ", only.join(",")) }
}

fn reasons(skipped: &[SkippedExperiment]) -> String {
    let each = skipped.iter().map(|SkippedExperiment { name, reason }| format!("{name} ({reason})"));
    each.collect::<Vec<_>>().join("; ")
}
