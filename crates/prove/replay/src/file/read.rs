use std::fmt;
use std::path::{Path, PathBuf};

use nandle_profile::read_within;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{REPLAY_SCHEMA_VERSION, ReplayFile};
use crate::play::{PLAY_SCHEMA_VERSION, PlayFile};

/// The longest file that may be read: ten million writes under six policies make 9 MB.
pub const REPLAY_BYTES_MAX: u64 = 32 << 20;

/// The result of a replay or a play could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayFileError {
    /// The operating system refused.
    #[error("reading the result {path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is such a result, and damaged.
    #[error("{path} is no result of a {kind}: {source}; make one with `{}`", kind.command())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Of what it is.
        kind: ResultKind,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// It is from a later version of the program.
    #[error(
        "{path} has {kind} schema version {got}, and this program reads versions up to {}; read it with a newer program, or \
         {kind} the trace again with this one",
        kind.version()
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// Of what it is.
        kind: ResultKind,
        /// The version it has.
        got: u64,
    },
}

/// What a result is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// Page writes under several policies.
    Replay,
    /// A trace's own requests.
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

/// Reads what a replay wrote; `None` when the file is something else.
///
/// # Errors
/// The file can't be read, lacks something that every replay's has, or has a later schema version.
pub fn read_replay(path: &Path) -> Result<Option<ReplayFile>, ReplayFileError> {
    read(path, ResultKind::Replay)
}

/// Reads what a play wrote; `None` when the file is something else.
///
/// # Errors
/// The file can't be read, lacks something that every play's has, or has a later schema version.
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

/// Other files of JSON have versions too; these have a trace beside it, and policies or a timing.
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
