//! `--resume`: the profile that an interrupted probe left.

use nandle_profile::{DeviceProfile, PROFILE_SCHEMA_VERSION, read_profile};
use nandle_target::facts;

use super::places::Places;
use crate::args::ProbeArgs;
use crate::error::CliError;
use crate::session::Session;

/// Reads it, and refuses one that has nothing to do with what is to be measured now.
pub(super) fn previous(args: &ProbeArgs, session: &Session) -> Result<DeviceProfile, CliError> {
    let path = Places::to_resume(args);
    let profile = read_profile(&path)?;
    let path = path.display();
    let refuse = |what: String| Err(CliError::usage(format!("--resume: {path} {what}")));
    if profile.schema_version != PROFILE_SCHEMA_VERSION {
        return refuse(format!(
            "has schema version {}, and this program writes {PROFILE_SCHEMA_VERSION}; probe anew, without --resume",
            profile.schema_version
        ));
    }
    if profile.target != session.name() {
        return refuse(format!(
            "is of {}, and the target is {}; name that one, or another file with --profile",
            profile.target,
            session.name()
        ));
    }
    if profile.identity != facts::identity(&session.target) {
        return refuse("is of another device, which was there before; probe anew, without --resume".into());
    }
    if profile.conditions.seed != args.target.seed {
        return refuse(format!("was made with --seed {}; give the same", profile.conditions.seed));
    }
    Ok(profile)
}
