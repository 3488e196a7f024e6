use std::path::{Path, PathBuf};

use nandle_profile::read_within;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{REPLAY_SCHEMA_VERSION, ReplayFile};

/// The longest file that may be read: ten million writes under six policies make 9 MB.
pub const REPLAY_BYTES_MAX: u64 = 32 << 20;

/// A replay's file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayFileError {
    /// The operating system refused.
    #[error("reading the replay {path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is a replay's, and damaged.
    #[error(
        "{path} is no result of a replay: {source}; make one with `nandle replay TRACE --on TARGET --json`"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// It is from a later version of the program.
    #[error(
        "{path} has replay schema version {got}, and this program reads versions up to {REPLAY_SCHEMA_VERSION}; read it with a \
         newer program, or replay the trace again with this one"
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// The version it has.
        got: u64,
    },
}

/// Reads what a replay wrote; `None` when the file is something else.
///
/// # Errors
/// The file can't be read, lacks something that every replay's has, or has a later schema version.
pub fn read_replay(path: &Path) -> Result<Option<ReplayFile>, ReplayFileError> {
    let bytes = read_within(path, REPLAY_BYTES_MAX)
        .map_err(|source| ReplayFileError::File { path: path.into(), source })?;
    let Some(version) = version(&bytes) else { return Ok(None) };
    if version > u64::from(REPLAY_SCHEMA_VERSION) {
        return Err(ReplayFileError::Version { path: path.into(), got: version });
    }
    let file = serde_json::from_slice(&bytes);
    file.map(Some).map_err(|source| ReplayFileError::Damaged { path: path.into(), source })
}

/// Other files of JSON have versions too; a replay's has a trace and policies beside it.
#[derive(Deserialize)]
struct Heading {
    schema_version: u64,
    #[serde(rename = "trace")]
    _trace: IgnoredAny,
    #[serde(rename = "policies")]
    _policies: IgnoredAny,
}

fn version(bytes: &[u8]) -> Option<u64> {
    let heading: Heading = serde_json::from_slice(bytes).ok()?;
    Some(heading.schema_version)
}
