//! Where results go: looked at before anything is measured, so that a profile that can't be written is told at once and not
//! after a minute, and no foreign file is replaced.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use nandle_model::library::DeviceState;
use nandle_profile::{PROFILE_BYTES_MAX, try_write};

use crate::error::CliError;

/// By this a page is known to be ours.
const GENERATOR: &[u8] = b"name=\"generator\" content=\"nandle";
/// It stands among a page's first bytes.
const HEAD_BYTES: u64 = 4096;
/// Predictions of a hundred thousand queries on three devices are shorter.
const PREDICTION_BYTES_MAX: u64 = 256 << 20;
/// A state tells what it is in its first packed block.
const STATE_HEAD_BYTES: u64 = 128 << 10;

/// What a file is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A profile. An older one may be replaced.
    Profile,
    /// A page. An older one may be replaced.
    Report,
    /// The state of a modelled drive. An older one may be replaced.
    State,
    /// The cells of a sweep. The caller knows whether they may be replaced.
    Cells,
    /// A prediction. An older one may be replaced.
    Prediction,
}

/// # Errors
/// A file of that name can't be written, or is there and no result of that kind.
pub(crate) fn check(path: &Path, content: Content) -> Result<(), CliError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => check_replaceable(path, content)?,
        Ok(metadata) => {
            let kind = if metadata.is_dir() { "a directory" } else { "no regular file" };
            return Err(CliError::usage(format!("{}: it is {kind}; name a file", path.display())));
        }
        Err(_) => {}
    }
    try_write(path).map_err(|error| unwritable(path, &error))
}

/// Whether two names lead to the same file, also when it isn't there yet.
pub(crate) fn are_the_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let named = fs::canonicalize(directory).ok()?.join(path.file_name()?);
        Some(fs::canonicalize(path).unwrap_or(named))
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

fn check_replaceable(path: &Path, content: Content) -> Result<(), CliError> {
    let (ours, kind, bytes_max): (fn(&[u8]) -> bool, _, _) = match content {
        Content::Profile => (is_profile, "profile", PROFILE_BYTES_MAX),
        Content::Report => (is_report, "report", HEAD_BYTES),
        Content::State => (is_state, "state of a modelled drive", STATE_HEAD_BYTES),
        Content::Prediction => (is_prediction, "prediction", PREDICTION_BYTES_MAX),
        Content::Cells => return Ok(()),
    };
    let there = read_start(path, bytes_max).map_err(|error| {
        CliError::failed(format!("{}: looking whether it may be replaced: {error}", path.display()))
    })?;
    if there.is_empty() || ours(&there) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{}: this file is no {kind} of nandle's, and is left alone; name another one",
        path.display()
    )))
}

fn read_start(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(bytes_max).read_to_end(&mut start)?;
    Ok(start)
}

fn is_profile(there: &[u8]) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_slice(there).ok();
    let made_by = value.as_ref().and_then(|value| value.get("made_by")?.as_str());
    made_by.is_some_and(|by| by.starts_with("nandle"))
}

fn is_prediction(there: &[u8]) -> bool {
    let file: Option<nandle_predict::PredictionFile> = serde_json::from_slice(there).ok();
    file.is_some()
}

fn is_report(there: &[u8]) -> bool {
    there.windows(GENERATOR.len()).any(|window| window == GENERATOR)
}

/// Also one of another version.
fn is_state(there: &[u8]) -> bool {
    DeviceState::begins(there)
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => CliError::usage(format!(
            "{path}: there is no directory to write it to; make it, or name another place"
        )),
        ErrorKind::InvalidFilename => CliError::usage(format!("{path}: expected the name of a file")),
        _ => CliError::failed(format!("{path}: it can't be written: {error}; name another place")),
    }
}
