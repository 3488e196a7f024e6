use std::path::{Path, PathBuf};

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
    /// The files that were named. A probe that ended early doesn't replace a complete profile, nor the report that was
    /// made with it: what it found goes beside them.
    pub(super) fn of(args: &ProbeArgs, ended_early: bool) -> Self {
        let is_complete = |path: &Path| read_profile(path).is_ok_and(|profile| profile.partial.is_empty());
        if ended_early && is_complete(&args.profile) {
            Self { profile: partial(&args.profile), report: partial(&args.report) }
        } else {
            Self { profile: args.profile.clone(), report: args.report.clone() }
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
