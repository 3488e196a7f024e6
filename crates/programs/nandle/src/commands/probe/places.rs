//! Files for a probe's results.

use std::path::{Path, PathBuf};

use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_probe::experiments::ALL;
use nandle_profile::{DeviceProfile, read_profile, write_profile};
use nandle_session::Session;
use nandle_target::facts;
use nandle_terminal::output;
use nandle_terminal::result_file::{self, PROFILE, REPORT};

use crate::commands::report::write_report;
use crate::error::CliError;

/// Paths of a probe's results.
pub(super) struct Places {
    pub(super) profile: PathBuf,
    pub(super) report: PathBuf,
}

impl Places {
    /// The paths that the user named.
    pub(super) fn new(profile: &Path, report: &Path) -> Self {
        Self { profile: profile.into(), report: report.into() }
    }

    /// Refuses paths that can't or mustn't be written.
    pub(super) fn check(&self) -> Result<(), CliError> {
        result_file::check(&self.profile, &PROFILE)?;
        result_file::check(&self.report, &REPORT)?;
        if result_file::are_the_same(&self.profile, &self.report) {
            return Err(CliError::usage(format!(
                "{}: --profile and --report name the same file; give them two",
                self.profile.display()
            )));
        }
        Ok(())
    }

    /// Refuses to replace the profile of another device.
    pub(super) fn check_device(&self, session: &Session) -> Result<(), CliError> {
        let Ok(there) = read_profile(&self.profile) else { return Ok(()) };
        let name = session.name();
        let other = match same_device(&there.identity, &facts::identity(&session.target)) {
            DeviceMatch::Same => return Ok(()),
            DeviceMatch::Unknown if there.target == name => return Ok(()),
            DeviceMatch::Unknown => String::new(),
            DeviceMatch::Different(how) => format!(": {how}, its own first"),
        };
        let path = self.profile.display();
        Err(CliError::usage(format!(
            "{path} is the profile of another device ({}{other}) and is left alone; name a file for that of {name} (--profile OTHER.json), or this one to replace it (--profile {path})",
            there.target
        )))
    }

    /// Destination of the results. A partial profile doesn't replace a complete or more
    /// extensive one or its report: it gets a path next to them.
    pub(super) fn of(&self, new: &DeviceProfile, ended_early: bool) -> Self {
        let is_partial = ended_early || !new.partial.is_empty();
        let is_more = |old: DeviceProfile| old.partial.is_empty() || answers(&old) > answers(new);
        if is_partial && read_profile(&self.profile).is_ok_and(is_more) {
            Self::new(&partial(&self.profile), &partial(&self.report))
        } else {
            Self::new(&self.profile, &self.report)
        }
    }

    /// Path of an interrupted probe's resumable profile.
    pub(super) fn to_resume(&self) -> PathBuf {
        let beside = partial(&self.profile);
        if beside.exists() { beside } else { self.profile.clone() }
    }

    /// The profile to resume; `None`, with a message, if there is none yet.
    pub(super) fn previous(&self) -> Result<Option<DeviceProfile>, CliError> {
        let path = self.to_resume();
        if !path.try_exists().unwrap_or(true) {
            output::note(&format!(
                "{}: not there yet, so the probe begins with its first part",
                path.display()
            ));
            return Ok(None);
        }
        Ok(Some(read_profile(&path)?))
    }

    /// Saves an unfinished profile.
    pub(super) fn keep(&self, profile: &DeviceProfile) -> Result<(), CliError> {
        result_file::check(&self.profile, &PROFILE)?;
        Ok(write_profile(&self.profile, profile)?)
    }

    /// Removes the partial profile of this probe or its predecessor once the complete one has been
    /// replaced.
    pub(super) fn remove_kept(&self, named: &Self) {
        let beside = partial(&named.profile);
        if self.profile == named.profile && read_profile(&beside).is_ok() {
            let _ = std::fs::remove_file(beside);
        }
    }

    /// Writes both files; the report only if the profile was written.
    pub(super) fn write(&self, profile: &DeviceProfile) -> Written {
        if let Err(error) = self.keep(profile) {
            return Written { files: String::new(), error: Some(error) };
        }
        let files = format!("profile: {}", self.profile.display());
        match self.write_page(profile) {
            Ok(()) => Written { files: format!("{files}\nreport:  {}", self.report.display()), error: None },
            Err(error) => {
                let later = format!("{error}; `nandle report {}` makes it later", self.profile.display());
                Written { files, error: Some(CliError::failed(later)) }
            }
        }
    }

    fn write_page(&self, profile: &DeviceProfile) -> Result<(), CliError> {
        result_file::check(&self.report, &REPORT)?;
        let files = [self.profile.display().to_string()];
        write_report(&self.report, &nandle_report::html_of_files(std::slice::from_ref(profile), &files)?)
    }
}

/// Outcome of writing the results.
pub(super) struct Written {
    /// Files written, one per line.
    pub(super) files: String,
    /// Error that prevented the others.
    pub(super) error: Option<CliError>,
}

/// Number of questions that a profile answers: read costs and completed experiments.
fn answers(profile: &DeviceProfile) -> usize {
    let mut experiments = profile.experiments.clone();
    let complete = ALL.iter().filter(|experiment| experiment.is_complete(&mut experiments)).count();
    complete + usize::from(!profile.cells.is_empty())
}

/// Turns `profile.json` into `profile.partial.json`.
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
