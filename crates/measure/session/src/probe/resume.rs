//! The profile that an earlier probe left is gone on with only when it is of the same target.

use nandle_profile::{DeviceProfile, PROFILE_SCHEMA_VERSION};
use nandle_target::facts;

use crate::Session;

/// A profile has nothing to do with what is to be measured now. Each message follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It is of another version, whose figures may mean something else.
    #[error(
        "has schema version {got}, and this program writes {PROFILE_SCHEMA_VERSION}; probe anew, without --resume"
    )]
    Version {
        /// Its version.
        got: u32,
    },
    /// It is of another target.
    #[error("is of {got}, and the target is {expected}; name that one, or another file with --profile")]
    Target {
        /// Its target.
        got: String,
        /// The target now.
        expected: String,
    },
    /// Another device was there before.
    #[error("is of another device, which was there before; probe anew, without --resume")]
    Device,
    /// Its random patterns are others.
    #[error("was made with --seed {got}; give the same")]
    Seed {
        /// Its seed.
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
