//! Files for results. They are checked before a measurement, so that an unwritable path is reported
//! at once and no foreign file is replaced.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use nandle_profile::{PROFILE_BYTES_MAX, try_write, write_atomically};
use nandle_reads::recording::Recording;

use crate::Failure;

/// Kind of a result file. An older file of the same kind may be replaced.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    /// Name of the kind.
    pub kind: &'static str,
    /// Number of leading bytes that identify the kind.
    pub start_bytes: u64,
    /// Returns true if these bytes identify the kind.
    pub is_one: fn(&[u8]) -> bool,
}

/// A device profile.
pub const PROFILE: Content = Content { kind: "profile", start_bytes: PROFILE_BYTES_MAX, is_one: is_profile };

/// A report page, identified by its first bytes.
pub const REPORT: Content = Content { kind: "report", start_bytes: 4096, is_one: is_report };

/// A recording of queries. Its first line is in the first compressed block.
pub const RECORDING: Content =
    Content { kind: "recording", start_bytes: 256 << 10, is_one: Recording::begins };

/// Identifies a page as nandle's own.
const GENERATOR: &[u8] = b"name=\"generator\" content=\"nandle";

/// Checks that a file can be written and doesn't contain anything else.
///
/// # Errors
/// The file can't be written, or exists and isn't of that kind.
pub fn check(path: &Path, content: &Content) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        check_replaceable(path, content)?;
    }
    check_writable(path)
}

/// Checks that a file can be written, if the caller checks its contents.
///
/// # Errors
/// The file can't be written.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    if let Ok(metadata) = fs::metadata(path)
        && !metadata.is_file()
    {
        let kind = if metadata.is_dir() { "a directory" } else { "no regular file" };
        return Err(Failure::usage(format!("{}: it is {kind}; name a file", path.display())));
    }
    try_write(path).map_err(|error| unwritable(path, &error))
}

/// Writes a result atomically.
///
/// # Errors
/// The directory can't be written, or the device is full.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    write_atomically(path, contents).map_err(|error| unwritable(path, &error))
}

/// Returns true if two names lead to the same file, even if it doesn't exist yet.
pub fn are_the_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let named = fs::canonicalize(directory).ok()?.join(path.file_name()?);
        Some(fs::canonicalize(path).unwrap_or(named))
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

fn check_replaceable(path: &Path, content: &Content) -> Result<(), Failure> {
    let there = read_start(path, content.start_bytes).map_err(|error| {
        Failure::failed(format!("{}: checking if it may be replaced: {error}", path.display()))
    })?;
    if there.is_empty() || (content.is_one)(&there) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{}: this file is no {} of nandle's, and is left alone; name another one",
        path.display(),
        content.kind
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

fn is_report(there: &[u8]) -> bool {
    there.windows(GENERATOR.len()).any(|window| window == GENERATOR)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Failure::usage(format!("{path}: there is no directory for it; create one, or name another path"))
        }
        ErrorKind::InvalidFilename => Failure::usage(format!("{path}: expected the name of a file")),
        _ => Failure::failed(format!("{path}: it can't be written: {error}; name another place")),
    }
}
