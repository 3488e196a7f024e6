use nandle_io::Nanos;
use nandle_probe::fill::FillError;
use nandle_probe::load::LoadError;
use nandle_target::TargetError;
use nandle_units::{format_bytes, format_duration};

/// Why a result could not be kept, as the caller's callback says.
pub type KeepError = Box<dyn std::error::Error + Send + Sync>;

/// A target could not be opened, or not be made ready to be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// It can't be opened, or must not be used like that.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Memory is short, or the world has no room for the requests.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The test file could not be written.
    #[error("{target}: {cause}")]
    Fill {
        /// What the user named.
        target: String,
        /// What happened.
        cause: FillError,
    },
    /// The time for it ended before anything of the test file was durable.
    #[error(
        "{target}: not one MiB of the test file ({}) could be written in {}; give a larger --budget",
        format_bytes(*wanted_bytes), format_duration(*elapsed)
    )]
    NothingFilled {
        /// What the user named.
        target: String,
        /// Size of the test file.
        wanted_bytes: u64,
        /// How long it was tried.
        elapsed: Nanos,
    },
    /// It was cancelled while the test file was written.
    #[error("interrupted while the test file was written")]
    Interrupted,
}

impl SessionError {
    /// Whether the target may be free in a moment, see [`TargetError::is_busy`].
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Target(error) if error.is_busy())
    }

    pub(crate) fn fill(target: String, cause: FillError) -> Self {
        match cause {
            FillError::Load(LoadError::Cancelled) => Self::Interrupted,
            cause => Self::Fill { target, cause },
        }
    }
}
