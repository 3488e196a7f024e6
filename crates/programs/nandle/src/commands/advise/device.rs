use std::path::{Path, PathBuf};

use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_profile::{DeviceProfile, Identity};
use nandle_target::facts;
use nandle_terminal::output;

use crate::error::CliError;

/// Warns when a profile is of another device than the one on which it is going to be used.
///
/// # Errors
/// The named place can't be looked at.
pub(super) fn warn_of_another(profile: &DeviceProfile, on: Option<&Path>) -> Result<(), CliError> {
    let Some(place) = on.map(Path::to_path_buf).or_else(|| probed_place(profile)) else { return Ok(()) };
    let found = match facts::identity_of_path(&place) {
        Ok(found) => found,
        // It was not asked for; what was probed may be another user's to look at.
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

/// What there is to say of a profile beside a device.
pub(crate) enum Warning {
    /// It is another device's.
    Other(String),
    /// It can't be told.
    Unknown(String),
}

/// A warning when a profile isn't known to be of the device that was found at a place.
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

/// What was probed, when it is a place of this machine.
pub(super) fn probed_place(profile: &DeviceProfile) -> Option<PathBuf> {
    let place = PathBuf::from(&profile.target);
    (place.is_absolute() && place.exists()).then_some(place)
}
