use std::path::Path;

use nandle_units::format_bytes;

use crate::error::CliError;

/// Space that a trial takes, as a multiple of its data: tables, indexes and log, twice.
const ROOM_BY_DATA: u64 = 4;

/// # Errors
///
/// The directory doesn't exist, or has too little space.
pub(super) fn check(directory: &Path, data_bytes: u64) -> Result<(), CliError> {
    let place = directory.display();
    if !directory.is_dir() {
        return Err(CliError::usage(format!("--on {place}: expected a directory")));
    }
    let facts = rustix::fs::statvfs(directory)
        .map_err(|error| CliError::failed(format!("{place}: asking for the room left: {error}")))?;
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    let needed = data_bytes.saturating_mul(ROOM_BY_DATA);
    if free < needed {
        return Err(CliError::failed(format!(
            "{place}: {} of room, and a trial with --verify-data {} takes up to {}; make room, name another place with \
             --on, or give less data",
            format_bytes(free),
            format_bytes(data_bytes),
            format_bytes(needed)
        )));
    }
    Ok(())
}
