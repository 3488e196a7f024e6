use std::path::{Path, PathBuf};

use nandle_advise::compare::{Sameness, same_device};
use nandle_profile::DeviceProfile;
use nandle_target::facts;

use crate::error::CliError;
use crate::output;

/// Warns when a profile is of another device than the one on which it is going to be used.
///
/// # Errors
/// The named place can't be looked at.
pub(super) fn warn_of_another(profile: &DeviceProfile, on: Option<&Path>) -> Result<(), CliError> {
    let Some(place) = on.map(Path::to_path_buf).or_else(|| probed_place(profile)) else { return Ok(()) };
    let found = match facts::identity_of_path(&place) {
        Ok(found) => found,
        // Nobody asked for it; what was probed may be somebody else's to look at.
        Err(_) if on.is_none() => return Ok(()),
        Err(error) => {
            return Err(CliError::usage(format!(
                "--on {}: looking which device it is on: {error}",
                place.display()
            )));
        }
    };
    let place = place.display();
    match same_device(&profile.identity, &found) {
        Sameness::Different(how) => output::note(&format!(
            "WARNING: the profile is not of the device under {place}: {how} (profile first). Probe that one: nandle \
             probe {place}"
        )),
        Sameness::Unknown if on.is_some() => output::note(&format!(
            "note: whether the profile is of the device under {place} can't be told: the system names no device there, \
             or the profile has none"
        )),
        Sameness::Same | Sameness::Unknown => {}
    }
    Ok(())
}

/// What was probed, when it is a place of this machine.
pub(super) fn probed_place(profile: &DeviceProfile) -> Option<PathBuf> {
    let place = PathBuf::from(&profile.target);
    (place.is_absolute() && place.exists()).then_some(place)
}
