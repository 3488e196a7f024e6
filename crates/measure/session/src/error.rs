use nandle_io::Nanos;
use nandle_probe::fill::FillError;
use nandle_probe::load::LoadError;
use nandle_target::TargetError;
use nandle_units::{format_bytes, format_duration};

/// Error of the caller's callback that stores results.
pub type KeepError = Box<dyn std::error::Error + Send + Sync>;

/// The target could not be opened or prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The target can't be opened, or not for this use.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Memory is short, or the world has too few slots.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The test file could not be written.
    #[error("{target}: {cause}")]
    Fill {
        /// Target as named by the user.
        target: String,
        /// Cause.
        cause: FillError,
    },
    /// Nothing of the test file was durable within the time limit.
    #[error(
        "{target}: not one MiB of the test file ({}) could be written in {}; give a larger --budget",
        format_bytes(*wanted_bytes), format_duration(*elapsed)
    )]
    NothingFilled {
        /// Target as named by the user.
        target: String,
        /// Size of the test file.
        wanted_bytes: u64,
        /// Time spent.
        elapsed: Nanos,
    },
    /// It was cancelled during the fill of the test file.
    #[error("interrupted while the test file was written")]
    Interrupted,
}

impl SessionError {
    /// Returns true if the target may be free soon, see [`TargetError::is_busy`].
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
