use std::io;
use std::path::PathBuf;

use crate::Format;

/// A trace could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system refused, or the compression is damaged.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No format fits the beginning of the file.
    #[error(
        "{} is no trace that can be recognised; expected {}; its first line is {first_line:?}; name its format with --format",
        path.display(), Format::list()
    )]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// How it begins.
        first_line: String,
    },
    /// A line is damaged.
    #[error("{}, line {line}: {complaint}, in {text:?}; --skip-bad counts such lines and goes on", path.display())]
    BadLine {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What was expected and got.
        complaint: String,
        /// The line, or its beginning.
        text: String,
    },
    /// The trace tells of several devices, and addresses of different devices can't be mixed.
    #[error(
        "{}, line {line}: an event of device {other}, and the trace began with device {device}; choose one with --device",
        path.display()
    )]
    SeveralDevices {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The device of the first event.
        device: String,
        /// The other.
        other: String,
    },
    /// The format needs two passes, and standard input can be read only once.
    #[error("a trace of fio's names several files, which takes two passes: save it to a file and name that")]
    TwoPasses,
}

impl TraceError {
    /// Whether one line alone is at fault, so that reading can go on behind it.
    pub fn is_bad_line(&self) -> bool {
        matches!(self, Self::BadLine { .. })
    }
}
