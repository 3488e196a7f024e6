//! Checks before resuming an earlier profile: it must belong to the same target.

use nandle_profile::{DeviceProfile, PROFILE_SCHEMA_VERSION};
use nandle_target::facts;

use crate::Session;

/// Mismatch between an earlier profile and the current measurement. Each message follows the file's
/// name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It has another version, with possibly different figures.
    #[error(
        "has schema version {got}, and this program writes {PROFILE_SCHEMA_VERSION}; probe again without --resume"
    )]
    Version {
        /// Version of the profile.
        got: u32,
    },
    /// It belongs to another target.
    #[error("is of {got}, and the target is {expected}; name that one, or another file with --profile")]
    Target {
        /// Target of the profile.
        got: String,
        /// Current target.
        expected: String,
    },
    /// It belongs to another device that was there before.
    #[error("is of another device that was there before; probe again without --resume")]
    Device,
    /// It used other random patterns.
    #[error("was made with --seed {got}; give the same seed")]
    Seed {
        /// Seed of the profile.
        got: u64,
    },
}

pub(super) fn check(previous: &DeviceProfile, session: &Session, seed: u64) -> Result<(), ResumeError> {
    if previous.schema_version != PROFILE_SCHEMA_VERSION {
        return Err(ResumeError::Version { got: previous.schema_version });
    }
    if previous.target != session.name() {
        return Err(ResumeError::Target { got: previous.target.clone(), expected: session.name() });
    }
    if previous.identity != facts::identity(&session.target) {
        return Err(ResumeError::Device);
    }
    if previous.conditions.seed != seed {
        return Err(ResumeError::Seed { got: previous.conditions.seed });
    }
    Ok(())
}
