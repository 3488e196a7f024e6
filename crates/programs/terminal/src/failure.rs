use std::process::ExitCode;

/// How a program leaves when it isn't done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something failed.
    Failed = 1,
    /// The command line asks for something that can't be.
    Usage = 2,
    /// The user interrupted it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command didn't do what was asked, and how the program leaves. A program wraps it, so that it can say what each of the errors that it
/// meets becomes.
#[derive(Debug)]
pub struct Failure {
    /// What is told.
    pub message: String,
    /// How the program leaves.
    pub exit: Exit,
}

impl Failure {
    /// Something failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Failed }
    }

    /// The command line asks for something that can't be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Usage }
    }

    /// The user interrupted it; `kept` says what became of the results.
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
