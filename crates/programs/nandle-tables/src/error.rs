use nandle_columns::ColumnsError;
use nandle_flights::ArrowFileError;
use nandle_model::library::ModelError;
use nandle_predict::CostsError;
use nandle_profile::ProfileError;
use nandle_reads::recording::RecordError;
use nandle_session::{LoadError, ProbeError, SessionError};
use nandle_terminal::{Exit, Failure};

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

    /// Prefixes the error with a file or table.
    pub(crate) fn of(self, name: &impl std::fmt::Display) -> Self {
        Self(Failure { message: format!("{name}: {self}"), exit: self.0.exit })
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

/// Closest known name, if one is close.
fn meant<'a>(column: &str, known: &'a [String]) -> Option<&'a String> {
    let distance =
        |name: &String| strsim::normalized_damerau_levenshtein(&column.to_lowercase(), &name.to_lowercase());
    known
        .iter()
        .map(|name| (distance(name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

impl From<ColumnsError> for CliError {
    fn from(error: ColumnsError) -> Self {
        match &error {
            ColumnsError::UnknownColumn { column, known, .. } => {
                let hint = meant(column, known).map(|name| format!("; did you mean `{name}`?"));
                Self::usage(format!("{error}{}", hint.unwrap_or_default()))
            }
            ColumnsError::Stopped => Self::interrupted("interrupted; the table is as it was"),
            ColumnsError::Value { .. } | ColumnsError::Misuse { .. } => Self::usage(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<ArrowFileError> for CliError {
    fn from(error: ArrowFileError) -> Self {
        Self::failed(error.to_string())
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

impl From<CostsError> for CliError {
    fn from(error: CostsError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        Self::failed(format!("writing the recording: {error}"))
    }
}

impl From<ProbeError> for CliError {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::Session(SessionError::Interrupted | SessionError::Load(LoadError::Cancelled))
            | ProbeError::Interrupted => Self::interrupted(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        let known = ["Origin", "Dest", "ArrDelay"].map(str::to_owned);
        assert_eq!(meant("origin", &known), Some(&known[0]));
        assert_eq!(meant("AirDelay", &known), Some(&known[2]));
        assert_eq!(meant("x", &known), None);
    }
}
