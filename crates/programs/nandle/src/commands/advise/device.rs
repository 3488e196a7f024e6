use std::path::{Path, PathBuf};

use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_profile::{DeviceProfile, Identity};
use nandle_target::facts;
use nandle_terminal::output;

use crate::error::CliError;

/// Warns if a profile belongs to another device than the one it will be used on.
///
/// # Errors
///
/// The named place can't be examined.
pub(super) fn warn_of_another(profile: &DeviceProfile, on: Option<&Path>) -> Result<(), CliError> {
    let Some(place) = on.map(Path::to_path_buf).or_else(|| probed_place(profile)) else { return Ok(()) };
    let found = match facts::identity_of_path(&place) {
        Ok(found) => found,
        // Not requested; the probed path may be another user's and unreadable.
        Err(_) if on.is_none() => return Ok(()),
        Err(error) => {
            return Err(CliError::usage(format!(
                "--on {}: looking which device it is on: {error}",
                place.display()
            )));
        }
    };
    let warning = warning_of_another(&profile.identity, &found, &place.display().to_string());
    match warning {
        Some(Warning::Other(text)) => output::note(&text),
        Some(Warning::Unknown(text)) if on.is_some() => output::note(&text),
        Some(Warning::Unknown(_)) | None => {}
    }
    Ok(())
}

/// Result of comparing a profile's device with the device found.
pub(crate) enum Warning {
    /// The profile is of another device.
    Other(String),
    /// The devices can't be compared.
    Unknown(String),
}

/// Warning if the profile can't be shown to be of the device found at `place`.
pub(crate) fn warning_of_another(profile: &Identity, found: &Identity, place: &str) -> Option<Warning> {
    match same_device(profile, found) {
        DeviceMatch::Different(how) => Some(Warning::Other(format!(
            "WARNING: the profile is not of the device under {place}: {how} (profile first). Probe that one: nandle \
             probe {place}"
        ))),
        DeviceMatch::Unknown => Some(Warning::Unknown(format!(
            "note: whether the profile is of the device under {place} can't be told: the system names no device there, \
             or the profile has none"
        ))),
        DeviceMatch::Same => None,
    }
}

/// Probed path, if it exists on this machine.
pub(super) fn probed_place(profile: &DeviceProfile) -> Option<PathBuf> {
    let place = PathBuf::from(&profile.target);
    (place.is_absolute() && place.exists()).then_some(place)
}
