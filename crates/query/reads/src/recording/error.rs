use std::path::PathBuf;

use thiserror::Error;

use super::{RECORDING_FILE_SUFFIX, RECORDING_VERSION, RecordingCounts, Violation};

/// Why a recording can't be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file can't be opened or read.
    #[error("can't read the recording `{path}`: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else, or its beginning is damaged.
    #[error(
        "`{path}` is no recording: {why}. One (*{RECORDING_FILE_SUFFIX}) begins as a frame of zstd; `nandle scan --record FILE` makes one",
        path = path.display()
    )]
    NoRecording {
        /// The file.
        path: PathBuf,
        /// What was found.
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
    /// Its end is missing.
    #[error(
        "the recording `{path}` is cut off behind line {lines} ({counts}): the line of its end is missing. Copy it again, or record again",
        path = path.display()
    )]
    Cut {
        /// The file.
        path: PathBuf,
        /// Lines that are there.
        lines: u64,
        /// What they say.
        counts: RecordingCounts,
    },
    /// It isn't what was written.
    #[error("the recording `{path}` is damaged at line {line}: {why}. Copy it again, or record again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line at which that was found, from 1 on.
        line: u64,
        /// What was found, and what was expected.
        why: String,
    },
    /// A line breaks a rule.
    #[error("the recording `{path}` breaks a rule at line {line}: {violation}", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// The rule.
        violation: Violation,
    },
}

/// Why a recording can't be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// What it goes into takes no more.
    #[error("can't write the recording: {0}")]
    Write(#[from] std::io::Error),
    /// What shall be recorded breaks a rule of recordings.
    #[error("this can't be recorded: {0}")]
    Violation(#[from] Violation),
}
