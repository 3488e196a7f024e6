//! `nandle probe`.

mod assemble;
mod places;
mod processor;
mod summary;

use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_probe::load::{Lane, LoadError};
use nandle_probe::search::{self, Grid, ProbeOptions};
use nandle_profile::{DeviceProfile, SystemFacts};
use nandle_target::pressure::{PressureSample, PressureShares};
use nandle_target::{Intent, facts};

use self::assemble::Measured;
use self::places::Places;
use crate::args::{Common, ProbeArgs};
use crate::error::CliError;
use crate::interrupt::cancel_on_signals;
use crate::output;
use crate::progress::Progress;
use crate::result_file::{self, Content};
use crate::session::Session;

/// Room for the deepest queue of the grid.
const SLOTS: u32 = 256;
/// Less time than this tells nothing of any device.
const BUDGET_MIN: Nanos = Nanos::from_secs(1);
/// The test file may take this part of the budget.
const FILL_PART: u64 = 4;

/// Runs the command.
pub(crate) fn run(args: &ProbeArgs, common: Common) -> Result<(), CliError> {
    check(args)?;
    let made_at = SystemTime::now();
    let cancel = cancel_on_signals()?;
    let session = Session::open(&args.target, Intent::Read, &cancel)?;
    let system = facts::system_facts(&session.target);
    let mut progress = Progress::new(!common.no_progress);
    let measured = measure(args, &session, &system, &mut progress);
    progress.finish();
    let measured = measured?;
    let ended_by = measured.findings.ended_by.clone();
    let profile = assemble::profile(args, &session, system, made_at, measured);
    let places = Places::of(args, ended_by.is_some() || cancel.is_cancelled());
    places.write(&profile)?;
    print(&profile, &places, common)?;
    let kept = |why: &str| format!("{why}; what was measured until then is in {}", places.profile.display());
    match ended_by {
        _ if cancel.is_cancelled() => Err(CliError::interrupted(kept("interrupted"))),
        None => Ok(()),
        Some(error) => Err(CliError::failed(kept(&format!("{}: {error}", session.target.spec())))),
    }
}

fn check(args: &ProbeArgs) -> Result<(), CliError> {
    if args.budget < BUDGET_MIN {
        return Err(CliError::usage(format!(
            "--budget {}: nothing can be concluded in less than {}; 60s tells most",
            nandle_io::units::format_duration(args.budget),
            nandle_io::units::format_duration(BUDGET_MIN)
        )));
    }
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

fn measure(
    args: &ProbeArgs,
    session: &Session,
    system: &SystemFacts,
    progress: &mut Progress,
) -> Result<Measured, CliError> {
    let opened = session.target.io(SLOTS)?;
    let shape = opened.device.shape.clone();
    let outstanding_max = args.target.outstanding_max;
    let grid = Grid::new(&shape, session.target.area_bytes(), SLOTS as usize, outstanding_max);
    let mut lane = Lane::new(opened.io, opened.device, session.lane_options(grid.buffer_bytes()))?;
    let began = lane.io().now();
    let before = PressureSample::take();
    let prepared = session.prepare(&mut lane, Some(Nanos(args.budget.0 / FILL_PART)), progress)?;
    let options = ProbeOptions {
        budget: args.budget - lane.io().now().since(began),
        area_bytes: prepared.area_bytes,
        contents: prepared.contents,
        freshly_written: prepared.filled.is_some(),
        outstanding_bytes_max: outstanding_max,
        stated_split_bytes: system.queue.as_ref().and_then(|queue| queue.split_bytes),
        seed: args.target.seed,
    };
    let findings = search::probe(&mut lane, &options, progress, &session.cancel).map_err(explain(session))?;
    let elapsed = lane.io().now().since(began);
    // What the machine did meanwhile has no part in virtual time.
    let pressure = if session.target.is_modelled() {
        PressureShares::default()
    } else {
        PressureSample::take().since(&before, elapsed)
    };
    let device = lane.device().clone();
    let backend = nandle_target::backend(lane.io(), &device);
    Ok(Measured { backend, prepared, findings, elapsed, pressure })
}

fn explain(session: &Session) -> impl Fn(LoadError) -> CliError + '_ {
    move |error| match error {
        LoadError::Cancelled => CliError::interrupted("interrupted before anything was measured"),
        LoadError::Block { .. } => CliError::usage(format!("{}: {error}", session.target.spec())),
        _ => CliError::failed(format!("{}: {error}", session.target.spec())),
    }
}

fn print(profile: &DeviceProfile, places: &Places, common: Common) -> Result<(), CliError> {
    if common.json {
        let text = serde_json::to_string_pretty(profile);
        let text = text.map_err(|error| CliError::failed(format!("writing JSON: {error}")))?;
        return output::result(&(text + "\n"));
    }
    output::result(&summary::summary(profile))?;
    output::note(&format!("profile: {}\nreport:  {}", places.profile.display(), places.report.display()));
    Ok(())
}
