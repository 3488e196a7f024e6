use std::fmt;
use std::path::{Path, PathBuf};

use nandle_profile::read_within;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{REPLAY_SCHEMA_VERSION, ReplayFile};
use crate::play::{PLAY_SCHEMA_VERSION, PlayFile};

/// Maximum length of a file to read, in bytes. Ten million writes under six policies make 9 MB.
pub const REPLAY_BYTES_MAX: u64 = 32 << 20;

/// Failure to read the result of a replay or a play.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayFileError {
    /// The operating system reported an error.
    #[error("reading the result {path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is such a result, but damaged.
    #[error("{path} is not a valid result of a {kind}: {source}; create one with `{}`", kind.command())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Kind of the result.
        kind: ResultKind,
        /// Defect of the file.
        source: serde_json::Error,
    },
    /// The file is from a later version of the program.
    #[error(
        "{path} has {kind} schema version {got}, and this program reads versions up to {}; read it with a newer program, or \
         {kind} the trace again with this one",
        kind.version()
    )]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Kind of the result.
        kind: ResultKind,
        /// Schema version of the file.
        got: u64,
    },
}

/// Kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// Page writes under several policies.
    Replay,
    /// Requests of a trace.
    Play,
}

impl ResultKind {
    fn version(self) -> u32 {
        match self {
            Self::Replay => REPLAY_SCHEMA_VERSION,
            Self::Play => PLAY_SCHEMA_VERSION,
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Replay => "nandle replay TRACE --on TARGET --json",
            Self::Play => "nandle trace play TRACE --on TARGET --json",
        }
    }
}

impl fmt::Display for ResultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Replay => "replay",
            Self::Play => "play",
        })
    }
}

/// Reads the result of a replay. Returns `None` if the file is something else.
///
/// # Errors
///
/// The file can't be read, lacks a required key, or has a later schema version.
pub fn read_replay(path: &Path) -> Result<Option<ReplayFile>, ReplayFileError> {
    read(path, ResultKind::Replay)
}

/// Reads the result of a play. Returns `None` if the file is something else.
///
/// # Errors
///
/// The file can't be read, lacks a required key, or has a later schema version.
pub fn read_play(path: &Path) -> Result<Option<PlayFile>, ReplayFileError> {
    read(path, ResultKind::Play)
}

fn read<T: DeserializeOwned>(path: &Path, kind: ResultKind) -> Result<Option<T>, ReplayFileError> {
    let bytes = read_within(path, REPLAY_BYTES_MAX)
        .map_err(|source| ReplayFileError::File { path: path.into(), source })?;
    let Some(got) = version(&bytes, kind) else { return Ok(None) };
    if got > u64::from(kind.version()) {
        return Err(ReplayFileError::Version { path: path.into(), kind, got });
    }
    let file = serde_json::from_slice(&bytes);
    file.map(Some).map_err(|source| ReplayFileError::Damaged { path: path.into(), kind, source })
}

/// Keys that identify a result. Other JSON files have schema versions, too; these also have a
/// trace, and either policies or a timing.
#[derive(Deserialize)]
struct Heading {
    schema_version: u64,
    #[serde(rename = "trace")]
    _trace: IgnoredAny,
    policies: Option<IgnoredAny>,
    timing: Option<IgnoredAny>,
}

fn version(bytes: &[u8], kind: ResultKind) -> Option<u64> {
    let heading: Heading = serde_json::from_slice(bytes).ok()?;
    let is_of_kind = match kind {
        ResultKind::Replay => heading.policies.is_some(),
        ResultKind::Play => heading.timing.is_some(),
    };
    is_of_kind.then_some(heading.schema_version)
}
