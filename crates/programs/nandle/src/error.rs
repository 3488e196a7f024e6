use nandle_model::library::ModelError;
use nandle_pages::PageError;
use nandle_probe::load::LoadError;
use nandle_profile::ProfileError;
use nandle_replay::play::PlayError;
use nandle_replay::{ReplayError, ReplayFileError};
use nandle_report::ReportError;
use nandle_session::{ProbeError, SessionError, SweepError};
use nandle_target::TargetError;
use nandle_terminal::{Exit, Failure};
use nandle_trace::TraceError;

/// Error that ends a command.
#[derive(Debug)]
pub(crate) struct CliError(Failure);

impl CliError {
    /// A failure at run time.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self(Failure::failed(message))
    }

    /// An invalid command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self(Failure::usage(message))
    }

    /// Interrupted by the user; `kept` describes the saved results.
    pub(crate) fn interrupted(kept: impl Into<String>) -> Self {
        Self(Failure::interrupted(kept))
    }

    pub(crate) fn exit_code(&self) -> Exit {
        self.0.exit
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for CliError {}

impl From<TargetError> for CliError {
    fn from(error: TargetError) -> Self {
        let exit = if error.is_usage() { Exit::Usage } else { Exit::Failed };
        Self(Failure { message: error.to_string(), exit })
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        let exit = match error {
            LoadError::Cancelled => Exit::Interrupted,
            LoadError::Block { .. } | LoadError::TooDeep { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self(Failure { message: error.to_string(), exit })
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Target(error) => error.into(),
            SessionError::Load(error) => error.into(),
            SessionError::Interrupted => Self::interrupted(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<ProbeError> for CliError {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::Session(error) => error.into(),
            ProbeError::Interrupted => Self::interrupted(error.to_string()),
            ProbeError::BudgetTooShort { .. }
            | ProbeError::AllSkipped { .. }
            | ProbeError::UnknownExperiment(_)
            | ProbeError::NothingPlanned { .. }
            | ProbeError::Resume(_)
            | ProbeError::NothingMeasured { cause: LoadError::Block { .. }, .. } => {
                Self::usage(error.to_string())
            }
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<SweepError> for CliError {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Session(error) => error.into(),
            SweepError::ModelThreads { .. } | SweepError::Plan { .. } => Self::usage(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<ProfileError> for CliError {
    fn from(error: ProfileError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<ReplayFileError> for CliError {
    fn from(error: ReplayFileError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<ReportError> for CliError {
    fn from(error: ReportError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<TraceError> for CliError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::SeveralDevices { .. }
            | TraceError::TwoPasses
            | TraceError::OtherFormat { .. }
            | TraceError::Ambiguous { .. }
            | TraceError::OtherCompression { .. }
            | TraceError::NoEvents { .. }
            | TraceError::NoDevices { .. }
            | TraceError::NoSuchDevice { .. } => Self::usage(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<ReplayError> for CliError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Trace(error) => error.into(),
            ReplayError::Cancelled => Self::interrupted("interrupted; a replay keeps no partial results"),
            ReplayError::BeyondTarget { .. } | ReplayError::TargetTooSmall { .. } => {
                Self::usage(error.to_string())
            }
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<PlayError> for CliError {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Trace(error) => error.into(),
            PlayError::Cancelled => Self::interrupted("interrupted; a play keeps no partial results"),
            PlayError::BeyondTarget { .. }
            | PlayError::NoLatencies { .. }
            | PlayError::NothingToCompare
            | PlayError::TooManyAreas { .. }
            | PlayError::Nothing => Self::usage(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

/// Errors of a store's options; later ones come as [`ReplayError`].
impl From<PageError> for CliError {
    fn from(error: PageError) -> Self {
        Self::usage(error.to_string())
    }
}
