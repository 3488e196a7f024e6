use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::figures::{self, InvalidFigure};
use crate::names;
use crate::upgrade::upgrade;
use crate::{DeviceProfile, PROFILE_BYTES_MAX, PROFILE_SCHEMA_VERSION, read_within};

/// Error of reading or writing a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The operating system returned an error.
    #[error("{action} {path}: {source}{}", advice(source))]
    File {
        /// Attempted action.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file isn't a profile, or is damaged.
    #[error("{path} is not a nandle profile: {source}; make one with `nandle probe TARGET`")]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Error of the parser.
        source: serde_json::Error,
    },
    /// A figure or name is invalid. Results computed from such a figure would be wrong, and such a
    /// name could do harm in paths and scripts.
    #[error(
        "{path}: {field} is {got}, and only {allowed} are valid there; correct it, or create the profile again with \
         `nandle probe TARGET`"
    )]
    Figure {
        /// Path of the file.
        path: PathBuf,
        /// Keys that lead to the figure.
        field: String,
        /// Invalid value.
        got: String,
        /// Description of the valid values.
        allowed: &'static str,
    },
    /// The file is from a newer version of the program.
    #[error(
        "{path} has profile schema version {got}, and this program reads versions up to {expected}; \
         read it with a newer program, or probe the device again with this one"
    )]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file.
        got: u64,
        /// Latest supported version.
        expected: u32,
    },
}

fn advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => "; make one with `nandle probe TARGET`",
        _ => "",
    }
}

/// Reads a profile.
///
/// # Errors
/// The file can't be read, isn't a profile, has an invalid figure or name, or has a newer schema
/// version.
pub fn read_profile(path: &Path) -> Result<DeviceProfile, ProfileError> {
    let file = |source| ProfileError::File { action: "reading the profile", path: path.into(), source };
    let damaged = |source| ProfileError::Damaged { path: path.into(), source };
    let senseless = |InvalidFigure { field, got, allowed }| ProfileError::Figure {
        path: path.into(),
        field,
        got,
        allowed,
    };
    let bytes = read_within(path, PROFILE_BYTES_MAX).map_err(file)?;
    let mut value: Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    upgrade(&mut value).map_err(senseless)?;
    // Other JSON files have versions too. A profile also has `made_by`.
    let version = value.get("made_by").and(value.get("schema_version"));
    match version.and_then(Value::as_u64) {
        Some(got) if got > u64::from(PROFILE_SCHEMA_VERSION) => {
            Err(ProfileError::Version { path: path.into(), got, expected: PROFILE_SCHEMA_VERSION })
        }
        Some(_) => {
            figures::check(&value).and_then(|()| names::check(&value)).map_err(senseless)?;
            serde_json::from_value(value).map_err(damaged)
        }
        // Deserialising reports missing keys by name.
        None => serde_json::from_value(value).map_err(damaged),
    }
}

/// Writes a profile atomically.
///
/// # Errors
/// The file or its directory can't be written.
pub fn write_profile(path: &Path, profile: &DeviceProfile) -> Result<(), ProfileError> {
    let mut text = serde_json::to_string_pretty(profile)
        .map_err(|source| ProfileError::Damaged { path: path.into(), source })?;
    text.push('\n');
    write_atomically(path, text.as_bytes()).map_err(|source| ProfileError::File {
        action: "writing the profile",
        path: path.into(),
        source,
    })
}

/// Replaces a file's contents through a temporary file in the same directory. Readers see the old
/// or the new contents, never a part, even after an interruption. A symbolic link is kept and its
/// destination replaced.
///
/// # Errors
/// The directory can't be written, or the device is full.
pub fn write_atomically(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let path = behind_links(path);
    let (mut file, temporary) = make_neighbour(&path)?;
    let written =
        file.write_all(contents).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Checks that [`write_atomically`] can start, by creating and removing its temporary file.
///
/// # Errors
/// The directory doesn't exist or can't be written.
pub fn try_write(path: &Path) -> std::io::Result<()> {
    let (_, temporary) = make_neighbour(&behind_links(path))?;
    fs::remove_file(&temporary)
}

/// Most names tried for a temporary file.
const NEIGHBOURS_MAX: u32 = 100;

/// Creates a temporary file next to `path` under an unused name.
fn make_neighbour(path: &Path) -> std::io::Result<(fs::File, PathBuf)> {
    let name = path.file_name().ok_or(std::io::ErrorKind::InvalidFilename)?;
    let mut number = 0;
    loop {
        let mut name = name.to_owned();
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        let neighbour = path.with_file_name(name);
        match fs::OpenOptions::new().write(true).create_new(true).open(&neighbour) {
            Ok(file) => return Ok((file, neighbour)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < NEIGHBOURS_MAX => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Most symbolic links to follow. More indicate a cycle, which opening the file will report.
const LINKS_MAX: usize = 40;

/// Follows symbolic links, even if the destination doesn't exist yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(to) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| to.clone(), |directory| directory.join(&to));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_of_the_temporary_name_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("profile.json");
        let (_, temporary) = make_neighbour(&path).unwrap();
        fs::write(&temporary, "another program's").unwrap();
        try_write(&path).unwrap();
        write_atomically(&path, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&temporary).unwrap(), "another program's");
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
