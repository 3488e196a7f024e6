use std::path::PathBuf;

use thiserror::Error;

use super::{RECORDING_FILE_SUFFIX, RECORDING_VERSION, RecordingCounts, Violation};

/// Error while reading a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file can't be opened or read.
    #[error("can't read the recording `{path}`: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// It isn't a recording, or its beginning is damaged.
    #[error(
        "`{path}` is no recording: {why}. One (*{RECORDING_FILE_SUFFIX}) begins as a frame of zstd; `nandle scan --record FILE` makes one",
        path = path.display()
    )]
    NoRecording {
        /// The file.
        path: PathBuf,
        /// Contents found.
        why: String,
    },
    /// A newer program wrote it.
    #[error(
        "the recording `{path}` has version {found}, and this program reads versions up to {RECORDING_VERSION}: use the program that wrote it, or \
         record again",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The end of the file is missing.
    #[error(
        "the recording `{path}` is cut off behind line {lines} ({counts}): the line of its end is missing. Copy it again, or record again",
        path = path.display()
    )]
    Cut {
        /// The file.
        path: PathBuf,
        /// Number of lines.
        lines: u64,
        /// Counts of these lines.
        counts: RecordingCounts,
    },
    /// The file is damaged.
    #[error("the recording `{path}` is damaged at line {line}: {why}. Copy it again, or record again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line number of the damage, from 1.
        line: u64,
        /// Actual and expected contents.
        why: String,
    },
    /// A line breaks a rule.
    #[error("the recording `{path}` breaks a rule at line {line}: {violation}", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// The violated rule.
        violation: Violation,
    },
}

/// Error while writing a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The output failed.
    #[error("can't write the recording: {0}")]
    Write(#[from] std::io::Error),
    /// The input breaks a rule of recordings.
    #[error("this can't be recorded: {0}")]
    Violation(#[from] Violation),
}
