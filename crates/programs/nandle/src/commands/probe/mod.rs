//! `nandle probe`.

mod assemble;
mod confirm;
mod experiments;
mod places;
mod processor;
mod reads;
mod resume;
mod summary;

use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_probe::load::LoadError;
use nandle_profile::DeviceProfile;
use nandle_target::{Intent, Problem, facts};
use nandle_units::format_duration;

use self::experiments::Selection;
use self::places::Places;
use self::reads::Begun;
use crate::args::{Common, ProbeArgs};
use crate::error::CliError;
use crate::interrupt::cancel_on_signals;
use crate::output;
use crate::progress::Progress;
use crate::result_file::{self, Content};
use crate::session::Session;

/// Less time than this tells nothing of any device.
const BUDGET_MIN: Nanos = Nanos::from_secs(1);

/// Runs the command.
pub(crate) fn run(args: &ProbeArgs, common: Common) -> Result<(), CliError> {
    check(args)?;
    let made_at = SystemTime::now();
    let cancel = cancel_on_signals()?;
    let (session, refused) = open(args, &cancel)?;
    let previous = if args.resume { Some(resume::previous(args, &session)?) } else { None };
    let system = facts::system_facts(&session.target);
    let selection = Selection::new(args, &session, &system, refused, previous.as_ref())?;
    if args.experiments {
        return output::result(&selection.describe(common)?);
    }
    selection.check(args)?;
    confirm::writing(args, &session, selection.write_bytes_max())?;
    let mut progress = Progress::new(!common.no_progress);
    let begun = reads::profile(args, &session, system, made_at, previous, &selection, &mut progress);
    let outcome = begun.and_then(|Begun { mut profile, ended_by, failed }| {
        let ended_by = match ended_by {
            None => selection.conduct(args, &session, &mut profile, &mut progress)?.or(failed),
            ended_by => ended_by,
        };
        Ok((profile, ended_by))
    });
    progress.finish();
    let (profile, ended_by) = outcome?;
    let ended_early = ended_by.is_some() || cancel.is_cancelled();
    let places = Places::of(args, &profile, ended_early);
    places.write(&profile)?;
    if args.resume || selection.has_experiments() {
        places.remove_kept(args);
    }
    print(&profile, args, &places, common)?;
    let kept = |why: &str| {
        format!(
            "{why}; what was measured until then is in {}, and the same command with --resume goes on from there",
            places.profile.display()
        )
    };
    match ended_by {
        _ if cancel.is_cancelled() => Err(CliError::interrupted(kept("interrupted"))),
        None => Ok(()),
        Some(error @ LoadError::SomeFailed { .. }) => Err(CliError::failed(format!(
            "{}: {error}; the profile in {} says where, and the same command with --resume measures that again",
            session.target.spec(),
            places.profile.display()
        ))),
        Some(error) => Err(CliError::failed(kept(&format!("{}: {error}", session.target.spec())))),
    }
}

/// Opens the target for writing where experiments may write and the target allows it; otherwise for reading, with the
/// reason why experiments may not write.
fn open(
    args: &ProbeArgs,
    cancel: &nandle_probe::load::Cancel,
) -> Result<(Session, Option<String>), CliError> {
    if let Some(reason) = experiments::unwanted(args) {
        return Ok((Session::open(&args.target, Intent::Read, cancel)?, Some(reason)));
    }
    match Session::try_open(&args.target, Intent::Write, cancel) {
        Ok(session) => Ok((session, None)),
        Err(error) => match error.problem {
            Problem::ForeignFile | Problem::DestroysData | Problem::InUse { .. } => {
                let session = Session::open(&args.target, Intent::Read, cancel)?;
                Ok((session, Some(error.problem.to_string())))
            }
            _ => Err(error.into()),
        },
    }
}

fn check(args: &ProbeArgs) -> Result<(), CliError> {
    if args.budget < BUDGET_MIN {
        return Err(CliError::usage(format!(
            "--budget {}: nothing can be concluded in less than {}; 60s tells most",
            format_duration(args.budget),
            format_duration(BUDGET_MIN)
        )));
    }
    experiments::check(args)?;
    result_file::check(&args.profile, Content::Profile)?;
    result_file::check(&args.report, Content::Report)?;
    if result_file::are_the_same(&args.profile, &args.report) {
        return Err(CliError::usage(format!(
            "{}: --profile and --report name the same file; give them two",
            args.profile.display()
        )));
    }
    Ok(())
}

fn explain(session: &Session) -> impl Fn(LoadError) -> CliError + '_ {
    move |error| match error {
        LoadError::Cancelled => CliError::interrupted("interrupted before anything was measured"),
        LoadError::Block { .. } => CliError::usage(format!("{}: {error}", session.target.spec())),
        _ => CliError::failed(format!("{}: {error}", session.target.spec())),
    }
}

/// Whether the user named an experiment, or named none and didn't rule this one out.
fn is_asked_for(args: &ProbeArgs, name: &str) -> bool {
    let has = |names: &[String]| names.iter().any(|other| other == name);
    !has(&args.skip) && (args.only.is_empty() || has(&args.only))
}

fn print(profile: &DeviceProfile, args: &ProbeArgs, places: &Places, common: Common) -> Result<(), CliError> {
    if common.json {
        let text = serde_json::to_string_pretty(profile);
        let text = text.map_err(|error| CliError::failed(format!("writing JSON: {error}")))?;
        return output::result(&(text + "\n"));
    }
    output::result(&summary::summary(profile, |name| is_asked_for(args, name)))?;
    output::note(&format!("profile: {}\nreport:  {}", places.profile.display(), places.report.display()));
    Ok(())
}
