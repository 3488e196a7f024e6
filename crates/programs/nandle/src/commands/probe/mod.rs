//! `nandle probe`.

mod args;
mod confirm;
mod describe;
mod next;
mod places;
mod summary;

use nandle_probe::experiments::{ALL, READS};
use nandle_probe::load::LoadError;
use nandle_profile::DeviceProfile;
use nandle_session::{Probe, ProbeError, ProbePlan};
use nandle_target::TargetSpec;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::{cancel_on_signals, remove_when_interrupted};
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::paragraph;

pub(crate) use self::args::ProbeArgs;

use self::places::Places;
use crate::error::CliError;
use crate::target::open_when_free;

pub(crate) fn run(args: &ProbeArgs, common: Common) -> Result<(), CliError> {
    let named = Places::new(args.profile(), &args.report);
    named.check()?;
    let cancel = cancel_on_signals()?;
    let previous = if args.resume { named.previous()? } else { None };
    let options = args.options(previous, cancel);
    let probe = open_when_free(|| Probe::open(&args.target.target, &options), ProbeError::is_busy);
    let probe = probe.map_err(|error| told_of(&named, error))?;
    remove_when_interrupted(probe.session().target.names_of_test_files());
    if args.experiments {
        return Ok(output::result(&describe::plan(probe.plan(), common)?)?);
    }
    if !args.profile_is_named() {
        named.check_device(probe.session())?;
    }
    confirm::writing(probe.session(), probe.plan(), args.yes)?;
    let (profile, cause) = measure(&probe, &named, common)?;
    let places = named.of(&profile, cause.is_some());
    let written = places.write(&profile);
    if written.error.is_none() && (args.resume || probe.plan().has_experiments()) {
        places.remove_kept(&named);
    }
    let next = next::sentence(probe.plan(), &profile);
    print(&profile, probe.plan(), &Told { places: &places, files: &written.files, next }, common)?;
    let ended = cause.map(|cause| ended_by(&cause, &args.target.target, &places, &profile));
    written.error.or(ended).map_or(Ok(()), Err)
}

/// Returns the profile, and the error or interruption that ended the probe early.
fn measure(
    probe: &Probe,
    named: &Places,
    common: Common,
) -> Result<(DeviceProfile, Option<LoadError>), CliError> {
    let mut bar = Bar::new(!common.no_progress);
    let mut kept_at = None;
    let measured = probe.run(&mut bar, &mut |profile| {
        let places = kept_at.get_or_insert_with(|| named.of(profile, true));
        Ok(places.keep(profile)?)
    });
    bar.finish();
    match measured {
        Ok(profile) => Ok((profile, None)),
        Err(ProbeError::Ended { cause, profile, .. }) => Ok((*profile, Some(cause))),
        Err(error) => Err(error.into()),
    }
}

/// Adds the file's name to an error about the profile to resume.
fn told_of(named: &Places, error: ProbeError) -> CliError {
    match error {
        ProbeError::Resume(error) => {
            CliError::usage(format!("--resume: {} {error}", named.to_resume().display()))
        }
        error => error.into(),
    }
}

/// Error that ends a probe with a partial profile.
fn ended_by(cause: &LoadError, target: &TargetSpec, places: &Places, measured: &DeviceProfile) -> CliError {
    let profile = places.profile.display();
    let kept = format!("what was measured until then is in {profile}; {}", resumable(measured));
    match cause {
        LoadError::Cancelled => CliError::interrupted(format!("interrupted; {kept}")),
        LoadError::SomeFailed { .. } => CliError::failed(format!(
            "{target}: {cause}; the profile in {profile} says where, and the same command with --resume measures that again"
        )),
        _ => CliError::failed(format!("{target}: {cause}; {kept}")),
    }
}

/// Note on `--resume`: a probe resumes after its last complete part.
fn resumable(profile: &DeviceProfile) -> String {
    let mut experiments = profile.experiments.clone();
    let complete = ALL.iter().filter(|experiment| experiment.is_complete(&mut experiments));
    let reads = profile.conditions.reads_complete.then_some(READS);
    let parts: Vec<_> = reads.into_iter().chain(complete.map(|experiment| experiment.name())).collect();
    if parts.is_empty() {
        return "no part of it is complete, so the same command with --resume measures all of it again"
            .into();
    }
    format!(
        "the same command with --resume keeps what is complete ({}), and measures the rest",
        parts.join(", ")
    )
}

/// Text printed around the summary.
struct Told<'a> {
    places: &'a Places,
    /// Files written.
    files: &'a str,
    /// Command to run next.
    next: Option<String>,
}

fn print(profile: &DeviceProfile, plan: &ProbePlan, told: &Told<'_>, common: Common) -> Result<(), CliError> {
    if common.json {
        let text = serde_json::to_string_pretty(profile);
        let text = text.map_err(|error| CliError::failed(format!("writing JSON: {error}")))?;
        return Ok(output::result(&(text + "\n"))?);
    }
    let mut text = summary::summary(profile, &told.places.profile, |name| plan.wants(name));
    if let Some(next) = &told.next {
        paragraph(&mut text, "> ", next);
    }
    output::result(&text)?;
    if !told.files.is_empty() {
        output::note(told.files);
    }
    Ok(())
}
