use std::path::{Path, PathBuf};

use nandle_probe::experiments::ALL;
use nandle_profile::{DeviceProfile, read_profile, write_profile};

use crate::args::ProbeArgs;
use crate::commands::report::write_report;
use crate::error::CliError;
use crate::result_file::{self, Content};

/// Where the results of a probe go.
pub(super) struct Places {
    pub(super) profile: PathBuf,
    pub(super) report: PathBuf,
}

impl Places {
    /// The files that were named. A partial profile, because the probe ended early or wasn't asked for everything, doesn't
    /// replace a complete one, or one that answers more, nor the report that was made with it: it goes beside them.
    pub(super) fn of(args: &ProbeArgs, new: &DeviceProfile, ended_early: bool) -> Self {
        let is_partial = ended_early || !new.partial.is_empty();
        let is_more = |old: DeviceProfile| old.partial.is_empty() || answers(&old) > answers(new);
        if is_partial && read_profile(&args.profile).is_ok_and(is_more) {
            Self { profile: partial(&args.profile), report: partial(&args.report) }
        } else {
            Self { profile: args.profile.clone(), report: args.report.clone() }
        }
    }

    /// Where an interrupted probe's profile is that can be gone on with.
    pub(super) fn to_resume(args: &ProbeArgs) -> PathBuf {
        let beside = partial(&args.profile);
        if beside.exists() { beside } else { args.profile.clone() }
    }

    /// Keeps a profile that isn't finished.
    pub(super) fn keep(&self, profile: &DeviceProfile) -> Result<(), CliError> {
        result_file::check(&self.profile, Content::Profile)?;
        Ok(write_profile(&self.profile, profile)?)
    }

    /// Takes away the profile that this probe, or the one that it went on with, kept beside a complete one, when its end
    /// has replaced that one.
    pub(super) fn remove_kept(&self, args: &ProbeArgs) {
        let beside = partial(&args.profile);
        if self.profile == args.profile && read_profile(&beside).is_ok() {
            let _ = std::fs::remove_file(beside);
        }
    }

    /// Writes both.
    pub(super) fn write(&self, profile: &DeviceProfile) -> Result<(), CliError> {
        result_file::check(&self.profile, Content::Profile)?;
        write_profile(&self.profile, profile)?;
        result_file::check(&self.report, Content::Report)?;
        write_report(&self.report, &nandle_report::html(std::slice::from_ref(profile))?)
    }
}

/// Questions that a profile answers: what reads cost, and the experiments that came to their end.
fn answers(profile: &DeviceProfile) -> usize {
    let mut experiments = profile.experiments.clone();
    let complete = ALL.iter().filter(|experiment| experiment.is_complete(&mut experiments)).count();
    complete + usize::from(!profile.cells.is_empty())
}

/// `profile.json` as `profile.partial.json`.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".partial");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_that_it_is_partial() {
        for (path, expected) in [
            ("profile.json", "profile.partial.json"),
            ("a/b.c.json", "a/b.c.partial.json"),
            ("p", "p.partial"),
        ] {
            assert_eq!(partial(Path::new(path)), Path::new(expected));
        }
    }
}
