//! Cache of probes that commands made on demand: one profile per device, in the user's cache
//! directory.
//!
//! A profile is cached only if the system can identify the device. It is valid for thirty days,
//! since drives fill up and age, or for an hour if the machine was short of processor time.

use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_io::Nanos;
use nandle_profile::{DeviceProfile, Identity, ProfileError, read_profile, write_profile};
use nandle_target::facts::identity_of_path;

const AGE_SECONDS_MAX: u64 = 30 * 24 * 3600;
const AGE_SECONDS_MAX_WHEN_BUSY: u64 = 3600;

/// Cache entry of a device's probe.
#[derive(Debug, PartialEq)]
pub(crate) struct ProbeCache {
    pub(crate) path: PathBuf,
    identity: Identity,
}

impl ProbeCache {
    /// Entry for the device below a directory. `None` if the system can't identify the device, or
    /// if the user has no cache directory.
    pub(crate) fn of(directory: &Path) -> Option<Self> {
        Self::within(&caches()?, identity_of_path(directory).ok()?)
    }

    pub(crate) fn within(caches: &Path, identity: Identity) -> Option<Self> {
        let name = device_name(&identity)?;
        Some(Self { path: caches.join("nandle/profiles").join(name + ".json"), identity })
    }

    /// Reads the profile and its age; `None` if there is no valid one.
    ///
    /// # Errors
    /// The file isn't a profile.
    pub(crate) fn read(&self) -> Result<Option<(DeviceProfile, Nanos)>, ProfileError> {
        if !self.path.is_file() {
            return Ok(None);
        }
        let profile = read_profile(&self.path)?;
        let age_seconds = seconds_now().checked_sub(profile.made_at_unix_s);
        let is_of_it = same_device(&profile.identity, &self.identity) == DeviceMatch::Same;
        let was_busy = profile.conditions.short_of_processors().is_some();
        let age_seconds_max = if was_busy { AGE_SECONDS_MAX_WHEN_BUSY } else { AGE_SECONDS_MAX };
        let age = age_seconds.filter(|seconds| *seconds <= age_seconds_max && is_of_it);
        Ok(age.map(|seconds| (profile, Nanos::from_secs(seconds))))
    }

    /// Stores a profile.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn write(&self, profile: &DeviceProfile) -> Result<(), ProfileError> {
        if let Some(directory) = self.path.parent() {
            let failed = |source| ProfileError::File { action: "making", path: directory.into(), source };
            fs::create_dir_all(directory).map_err(failed)?;
        }
        write_profile(&self.path, profile)
    }
}

/// User's cache directory by the freedesktop.org standard: `XDG_CACHE_HOME`, or `.cache` in the
/// home directory.
fn caches() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// File name that is unique to a device. It is derived from its identifiers, or else from kernel
/// name, model and capacity.
fn device_name(identity: &Identity) -> Option<String> {
    let Identity { kernel_name, model, serial, world_wide_name, capacity_bytes, .. } = identity;
    let mut hasher = std::hash::DefaultHasher::new();
    if serial.is_none() && world_wide_name.is_none() {
        (model.as_ref()?, kernel_name.as_ref()?).hash(&mut hasher);
    }
    (serial, world_wide_name, model, capacity_bytes).hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use nandle_session::{ProbeOptions, Unobserved, probe};

    use super::*;

    fn identity(serial: Option<&str>, kernel_name: &str) -> Identity {
        Identity {
            serial: serial.map(str::to_owned),
            model: Some("virtio disk".into()),
            kernel_name: Some(kernel_name.into()),
            capacity_bytes: Some(1 << 40),
            ..Identity::default()
        }
    }

    #[test]
    fn each_device_has_its_own_file() {
        let name = |serial, kernel_name| device_name(&identity(serial, kernel_name)).unwrap();
        assert_eq!(name(Some("A"), "sda"), name(Some("A"), "sdb"), "a serial number is enough");
        assert_ne!(name(Some("A"), "sda"), name(Some("B"), "sda"));
        assert_ne!(name(None, "vda"), name(None, "vdb"), "disks of one size without serial numbers");
        assert_eq!(device_name(&Identity::default()), None);
    }

    #[test]
    fn a_cached_probe_is_valid_for_its_device_and_for_a_month() {
        let caches = tempfile::tempdir().unwrap();
        let kept = ProbeCache::within(caches.path(), identity(Some("A"), "sda")).unwrap();
        assert_eq!(kept.read().unwrap(), None);
        let model = "model:wd2003fyys".parse().unwrap();
        let options = ProbeOptions {
            budget: Nanos::from_secs(10),
            only: vec!["reads".to_owned()],
            ..ProbeOptions::new(SystemTime::now())
        };
        let mut profile = probe(&model, &options, &mut Unobserved).unwrap();
        profile.identity = kept.identity.clone();
        kept.write(&profile).unwrap();
        assert_eq!(kept.read().unwrap().unwrap().0, profile);
        let exchanged = ProbeCache { identity: identity(Some("B"), "sda"), path: kept.path.clone() };
        assert_eq!(exchanged.read().unwrap(), None, "the entry belongs to another device");
        profile.made_at_unix_s -= AGE_SECONDS_MAX_WHEN_BUSY + 60;
        kept.write(&profile).unwrap();
        assert!(kept.read().unwrap().is_some());
        profile.conditions.cpu_pressure_share = Some(0.5);
        kept.write(&profile).unwrap();
        assert_eq!(kept.read().unwrap(), None, "the machine was busy during the probe");
        profile.conditions.cpu_pressure_share = None;
        profile.made_at_unix_s -= AGE_SECONDS_MAX;
        kept.write(&profile).unwrap();
        assert_eq!(kept.read().unwrap(), None, "the entry is too old");
        fs::write(&kept.path, "{}").unwrap();
        assert!(kept.read().is_err());
    }
}
