//! Profile for planning reads: from a table, from a named file, or from a probe of the directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_io::{Nanos, Shape};
use nandle_predict::{REAL_PROBE_BUDGET, read_costs};
use nandle_profile::{DeviceProfile, read_profile};
use nandle_reads::ReadCosts;
use nandle_session::{Access, Cancel, LoadError, ProbeError, ProbeOptions, Progress, SessionError, probe};
use nandle_target::TargetSpec;
use nandle_target::facts::identity_of_path;
use nandle_units::{format_bytes, format_duration};

use crate::args::{positive_bytes, positive_duration};
use crate::probe_cache::ProbeCache;
use crate::{Failure, output};

/// Default size of a probe's test file.
const TEST_FILE_BYTES: u64 = 1 << 30;

/// Arguments that choose a profile.
#[derive(Debug, Clone, Args)]
pub struct ProfileArgs {
    /// Profile of the data's device, written by `nandle probe` [default: probe the directory]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Duration of a new probe, which isn't cached [default: use a cached probe, else probe for
    /// 10s]
    #[arg(long, value_name = "TIME", value_parser = positive_duration, conflicts_with = "profile")]
    pub probe_budget: Option<Nanos>,
    /// Size of the probe's temporary test file
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = positive_bytes, conflicts_with = "profile")]
    pub probe_file_size: u64,
}

/// Profile with its origin.
#[derive(Debug)]
pub struct FoundProfile {
    /// The profile.
    pub profile: DeviceProfile,
    /// Description of its origin.
    pub origin: String,
    /// Warning if it belongs to another device than the data.
    pub of_another: Option<String>,
}

impl FoundProfile {
    /// Reads a profile for data in a directory.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read(path: &Path, directory: &Path) -> Result<Self, Failure> {
        let profile = read_profile(path).map_err(|error| Failure::failed(error.to_string()))?;
        let origin = format!("the profile {} (of {})", path.display(), profile.target);
        let of_another = of_another(&profile, path, directory);
        Ok(Self { profile, origin, of_another })
    }

    /// Prints its warning at once, for commands whose output has no place for it.
    #[must_use]
    pub fn told(mut self) -> Self {
        self.of_another.take().iter().for_each(|sentence| output::note(sentence));
        self
    }
}

impl ProfileArgs {
    /// Returns true if the user chose a profile.
    pub const fn is_given(&self) -> bool {
        self.profile.is_some() || self.probe_budget.is_some()
    }

    /// Returns the named profile, else `kept`, else that of a probe of the directory, which may be
    /// cached from an earlier command.
    ///
    /// # Errors
    /// The profile can't be read or created, or the user interrupted the probe.
    pub fn find(
        &self,
        kept: Option<&Path>,
        directory: &Path,
        cancel: &Cancel,
        progress: &mut dyn Progress,
    ) -> Result<FoundProfile, Failure> {
        if let Some(path) = self.profile.as_deref().or(kept) {
            return FoundProfile::read(path, directory);
        }
        match self.probe_budget {
            Some(budget) => self.probed(directory, budget, None, cancel, progress),
            // A probe with another test file size isn't cached either.
            None if self.probe_file_size != TEST_FILE_BYTES => {
                self.probed(directory, REAL_PROBE_BUDGET, None, cancel, progress)
            }
            None => self.probed_once(directory, ProbeCache::of(directory).as_ref(), cancel, progress),
        }
    }

    /// Uses the cached probe of the device, or makes one and caches it.
    fn probed_once(
        &self,
        directory: &Path,
        kept: Option<&ProbeCache>,
        cancel: &Cancel,
        progress: &mut dyn Progress,
    ) -> Result<FoundProfile, Failure> {
        if let Some((profile, age)) = kept.and_then(|kept| read_kept(kept, directory)) {
            let origin = format!("a probe of {}'s device, {} ago", directory.display(), format_duration(age));
            return Ok(FoundProfile { profile, origin, of_another: None });
        }
        self.probed(directory, REAL_PROBE_BUDGET, kept, cancel, progress)
    }

    fn probed(
        &self,
        directory: &Path,
        budget: Nanos,
        kept: Option<&ProbeCache>,
        cancel: &Cancel,
        progress: &mut dyn Progress,
    ) -> Result<FoundProfile, Failure> {
        let (place, time) = (directory.display(), format_duration(budget));
        let size = format_bytes(self.probe_file_size);
        output::note(&format!(
            "{place} is probed for {time} with a test file of {size}, because it has no profile; for a better one, run `nandle probe {place} --profile disk.json` and give --profile disk.json."
        ));
        let profile = self.probe(directory, budget, cancel, progress)?;
        kept.and_then(|kept| keep(&profile, kept)).iter().for_each(|sentence| output::note(sentence));
        Ok(FoundProfile { profile, origin: format!("a probe of {place} for {time}"), of_another: None })
    }

    fn probe(
        &self,
        directory: &Path,
        budget: Nanos,
        cancel: &Cancel,
        progress: &mut dyn Progress,
    ) -> Result<DeviceProfile, Failure> {
        let target = TargetSpec::from_os(directory.as_os_str())
            .map_err(|error| Failure::usage(format!("{}: {error}", directory.display())))?;
        let options = ProbeOptions {
            access: Access { test_file_bytes: self.probe_file_size, ..Access::default() },
            budget,
            only: vec!["reads".to_owned()],
            cancel: cancel.clone(),
            ..ProbeOptions::new(SystemTime::now())
        };
        probe(&target, &options, progress).map_err(|error| of_probe(&error))
    }
}

/// Returns the cached profile of the device below a directory with its path, and prints that it is
/// used. `None` if there is no valid one.
pub fn kept_profile(directory: &Path) -> Option<(DeviceProfile, PathBuf)> {
    let kept = ProbeCache::of(directory)?;
    let (profile, _) = read_kept(&kept, directory)?;
    Some((profile, kept.path))
}

fn read_kept(kept: &ProbeCache, directory: &Path) -> Option<(DeviceProfile, Nanos)> {
    let read = kept.read().unwrap_or_else(|error| {
        output::note(&format!("{error}; the device is probed again."));
        None
    });
    let (profile, age) = read?;
    let (place, age_words, path) = (directory.display(), format_duration(age), kept.path.display());
    output::note(&format!(
        "reads are planned by a cached probe of {place}'s device, made {age_words} ago; remove {path} to probe it again."
    ));
    Some((profile, age))
}

/// Caches a probe. Returns a warning if there is one.
fn keep(profile: &DeviceProfile, kept: &ProbeCache) -> Option<String> {
    let failed = kept.write(profile).err().map(|error| format!("{error}; the next command probes again."));
    let busy = profile.conditions.short_of_processors().map(|share| {
        format!(
            "The machine was short of processor time during the probe ({:.0} % of it): predicted times may be wrong; commands probe again after an hour.",
            share * 100.0
        )
    });
    failed.or(busy)
}

/// Warning if the profile belongs to another device than the directory's. Unknown identities aren't
/// treated as different.
fn of_another(profile: &DeviceProfile, path: &Path, directory: &Path) -> Option<String> {
    // A table's directory may not exist yet.
    let there = directory.ancestors().find(|place| place.exists()).unwrap_or_else(|| Path::new("."));
    match same_device(&profile.identity, &identity_of_path(there).ok()?) {
        DeviceMatch::Same | DeviceMatch::Unknown => None,
        DeviceMatch::Different(how) => Some(format!(
            "{} is the profile of another device than that of {} ({how}, the profile's first), and reads are planned for the profile's device; run `nandle probe` for this one.",
            path.display(),
            directory.display()
        )),
    }
}

/// Smallest unit worth reading alone, if the profile has one.
pub fn flexible_block_bytes(profile: &DeviceProfile) -> Option<u64> {
    let derived = &profile.derived;
    let flexible = derived.flexible_io.as_ref().map(|flexible| flexible.block_bytes.value);
    flexible.or(derived.efficient_block_bytes.map(|block| block.value))
}

/// Read costs of a profile, with sentences on missing figures.
///
/// # Errors
/// Reads can't be planned with this profile.
pub fn costs_of(found: &FoundProfile, shape: Option<&Shape>) -> Result<(ReadCosts, Vec<String>), Failure> {
    let read = read_costs(&found.profile, shape);
    let (costs, missing) = read.map_err(|error| Failure::failed(error.to_string()))?;
    Ok((costs, missing.into_iter().map(|missing| format!("{missing}.")).collect()))
}

fn of_probe(error: &ProbeError) -> Failure {
    match error {
        ProbeError::Session(SessionError::Interrupted | SessionError::Load(LoadError::Cancelled))
        | ProbeError::Interrupted => Failure::interrupted(error.to_string()),
        _ => Failure::failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::Identity;
    use nandle_session::Unobserved;

    use super::*;

    fn example_profile() -> DeviceProfile {
        let options = ProbeOptions {
            budget: Nanos::from_secs(10),
            only: vec!["reads".to_owned()],
            ..ProbeOptions::new(SystemTime::now())
        };
        let model = "model:wd2003fyys".parse().unwrap();
        let mut profile = probe(&model, &options, &mut Unobserved).unwrap();
        profile.identity = Identity { serial: Some("A".into()), ..Identity::default() };
        profile
    }

    #[test]
    fn a_device_is_probed_once() {
        let (caches, profile) = (tempfile::tempdir().unwrap(), example_profile());
        let kept = ProbeCache::within(caches.path(), profile.identity.clone()).unwrap();
        assert_eq!(keep(&profile, &kept), None);
        let args = ProfileArgs { profile: None, probe_budget: None, probe_file_size: 1 << 20 };
        // A path that can't be probed.
        let nowhere = Path::new("/nowhere");
        let found = args.probed_once(nowhere, Some(&kept), &Cancel::default(), &mut Unobserved).unwrap();
        assert_eq!(found.profile, profile);
        assert!(found.origin.contains("ago"), "{}", found.origin);
        let none = args.probed_once(nowhere, None, &Cancel::default(), &mut Unobserved);
        assert!(none.is_err());
    }

    #[test]
    fn a_probe_of_a_busy_machine_is_cached_for_an_hour() {
        let (caches, mut profile) = (tempfile::tempdir().unwrap(), example_profile());
        let kept = ProbeCache::within(caches.path(), profile.identity.clone()).unwrap();
        profile.conditions.cpu_pressure_share = Some(0.47);
        let said = keep(&profile, &kept).unwrap();
        assert!(said.contains("47 %"), "{said}");
        assert_eq!(kept.read().unwrap().unwrap().0, profile);
    }
}
