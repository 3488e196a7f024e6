use nandle_io::Nanos;
use nandle_probe::experiments::PlanError;
use nandle_probe::load::LoadError;
use nandle_profile::{DeviceProfile, SkippedExperiment};
use nandle_target::TargetError;
use nandle_units::format_duration;

use super::{BUDGET_MIN, ResumeError};
use crate::{KeepError, SessionError};

/// A probe has no profile, or an incomplete one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The target can't be opened or prepared.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The budget is too short.
    #[error(
        "--budget {}: the minimum is {}; 60s gives most results",
        format_duration(*budget), format_duration(BUDGET_MIN)
    )]
    BudgetTooShort {
        /// Budget of the user.
        budget: Nanos,
    },
    /// All selected experiments are skipped.
    #[error(
        "{}--skip {}: nothing is left to be measured; skip less, or name other experiments with --only",
        named(only), skip.join(",")
    )]
    AllSkipped {
        /// Selected names.
        only: Vec<String>,
        /// Skipped names.
        skip: Vec<String>,
    },
    /// A name is unknown.
    #[error(transparent)]
    UnknownExperiment(#[from] PlanError),
    /// None of the selected experiments can run.
    #[error("nothing is left to be measured: {}", reasons(skipped))]
    NothingPlanned {
        /// Selected experiments with the reasons.
        skipped: Vec<SkippedExperiment>,
    },
    /// The profile to resume belongs to another target.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// It was cancelled before the first measurement.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// It ended before the first measurement.
    #[error("{target}: {cause}")]
    NothingMeasured {
        /// Target as named by the user.
        target: String,
        /// Cause of the end.
        cause: LoadError,
    },
    /// It ended early, or some requests failed.
    #[error("{target}: {cause}")]
    Ended {
        /// Target as named by the user.
        target: String,
        /// Cause: [`LoadError::Cancelled`], a failure of the device, or [`LoadError::SomeFailed`]
        /// after a full run.
        cause: LoadError,
        /// Results so far.
        profile: Box<DeviceProfile>,
    },
    /// The profile could not be stored after the last experiment.
    #[error("{source}")]
    NotKept {
        /// Error of the callback.
        source: KeepError,
        /// Complete profile.
        profile: Box<DeviceProfile>,
    },
}

impl ProbeError {
    /// Partial results, if any.
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

    /// Returns true if the target may be free soon, see [`TargetError::is_busy`].
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

/// Formats the selected names as the start of a message.
fn named(only: &[String]) -> String {
    if only.is_empty() { String::new() } else { format!("--only {} and ", only.join(",")) }
}

fn reasons(skipped: &[SkippedExperiment]) -> String {
    let each = skipped.iter().map(|SkippedExperiment { name, reason }| format!("{name} ({reason})"));
    each.collect::<Vec<_>>().join("; ")
}
