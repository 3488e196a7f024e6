use std::process::ExitCode;

/// Exit code of an unsuccessful program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command failed.
    Failed = 1,
    /// The command line is invalid.
    Usage = 2,
    /// The user interrupted the command.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Error message of a command with its exit code. Programs wrap it to convert their own errors.
#[derive(Debug)]
pub struct Failure {
    /// Message for the user.
    pub message: String,
    /// Exit code.
    pub exit: Exit,
}

impl Failure {
    /// The command failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Failed }
    }

    /// The command line is invalid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Usage }
    }

    /// The user interrupted the command; `kept` describes what was kept.
    pub fn interrupted(kept: impl Into<String>) -> Self {
        Self { message: kept.into(), exit: Exit::Interrupted }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
