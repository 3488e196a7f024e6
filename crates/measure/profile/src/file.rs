use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::figures::{self, InvalidFigure};
use crate::names;
use crate::upgrade::upgrade;
use crate::{DeviceProfile, PROFILE_BYTES_MAX, PROFILE_SCHEMA_VERSION, read_within};

/// A profile could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The operating system refused.
    #[error("{action} {path}: {source}{}", advice(source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no profile, or a damaged one.
    #[error("{path} is not a nandle profile: {source}; make one with `nandle probe TARGET`")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// A figure or a name that no probe gives: nothing can be computed of the one, and the other may do harm where it is used.
    #[error(
        "{path}: {field} is {got}, and only {allowed} make sense there; correct it, or make the profile anew with \
         `nandle probe TARGET`"
    )]
    Figure {
        /// Which file.
        path: PathBuf,
        /// The keys that lead to the figure.
        field: String,
        /// The figure.
        got: String,
        /// What may stand there.
        allowed: &'static str,
    },
    /// The file is from a later version of the program.
    #[error(
        "{path} has profile schema version {got}, and this program reads versions up to {expected}; \
         read it with a newer program, or probe the device again with this one"
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// The version it has.
        got: u64,
        /// The latest version that can be read.
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
/// The file can't be read, is no profile, has a figure or a name that makes no sense, or has a later schema version.
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
    // Other files of JSON have versions too; what no program says it has made is none of ours.
    let version = value.get("made_by").and(value.get("schema_version"));
    match version.and_then(Value::as_u64) {
        Some(got) if got > u64::from(PROFILE_SCHEMA_VERSION) => {
            Err(ProfileError::Version { path: path.into(), got, expected: PROFILE_SCHEMA_VERSION })
        }
        Some(_) => {
            figures::check(&value).and_then(|()| names::check(&value)).map_err(senseless)?;
            serde_json::from_value(value).map_err(damaged)
        }
        // What is missing is reported by name by the typed reading.
        None => serde_json::from_value(value).map_err(damaged),
    }
}

/// Writes a profile, whole or not at all.
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

/// Replaces a file's contents by way of a temporary neighbour, so that a reader and an interrupted program
/// see the old file or the new one, never a part. A symbolic link stays, and what it leads to is replaced.
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

/// Whether [`write_atomically`] could begin: makes the temporary neighbour and takes it away again.
///
/// # Errors
/// The directory isn't there or can't be written.
pub fn try_write(path: &Path) -> std::io::Result<()> {
    let (_, temporary) = make_neighbour(&behind_links(path))?;
    fs::remove_file(&temporary)
}

/// Names tried for a temporary neighbour before something else must be wrong.
const NEIGHBOURS_MAX: u32 = 100;

/// Makes a file beside `path` under a name that nothing had, neither a file nor a link to one.
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

/// Links that a path may lead through; more of them are a circle, which opening will complain of.
const LINKS_MAX: usize = 40;

/// Where a path leads, also when nothing is there yet.
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
    fn a_file_that_has_the_temporary_name_already_is_left_alone() {
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
