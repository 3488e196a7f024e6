use nandle_io::{DriveCounters, Nanos};
use nandle_profile::experiments::FailedRequests;
use nandle_profile::{Derived, Experiments, SkippedExperiment};
use nandle_units::format_duration;

use super::plan::next_of;
use super::{ALL, Chosen, Circumstances, HostFiles, Lab, Plan};
use crate::Observer;
use crate::load::{Cancel, LoadError, Opener};

/// What all experiments of a probe are conducted in.
pub struct ExperimentEnv<'a> {
    /// Opens the device in a world of its own.
    pub open: &'a Opener<'a>,
    /// Opens the same device with its write cache off; `None` where that can't be had without changing its settings.
    pub open_without_cache: Option<&'a Opener<'a>>,
    /// Reads what the drive's own log counts; `None` where it has none, or may not be asked. Modelled drives tell their
    /// world.
    pub drive_log: &'a dyn Fn() -> Option<DriveCounters>,
    /// Files and blocking calls of the host; nothing in a modelled world.
    pub host_files: Option<&'a dyn HostFiles>,
    /// What is possible.
    pub circumstances: Circumstances,
    /// Memory that reads go through, as a [`LaneOptions`](crate::load::LaneOptions) has it.
    pub read_pool_bytes: u64,
    /// How long the device may be silent.
    pub patience: Nanos,
    /// Seed of all that is random.
    pub seed: u64,
    /// Ends the experiments.
    pub cancel: &'a Cancel,
}

/// Runs what was planned, one experiment after the other, each in a lab of its own. `keep` is called after each.
///
/// # Errors
/// The user ended it, or the device fails or stops answering; what was found until then is in `experiments`. After requests
/// that failed the next experiment is tried all the same (a drive that refuses writes may still be read), and the first
/// such failure is the error at the end, also when others were answered: a drive that fails some requests is not well. An
/// experiment that the device can't take is recorded as ended.
pub fn conduct(
    plan: &Plan,
    env: &ExperimentEnv<'_>,
    experiments: &mut Experiments,
    observer: &mut dyn Observer,
    keep: &mut dyn FnMut(&Experiments),
) -> Result<(), LoadError> {
    experiments.skipped.clone_from(&plan.skipped);
    let (mut failed, mut left, mut to_come) = (Ok(()), plan.left, plan.chosen.iter());
    while let Some(chosen) = next_of(to_come.as_slice(), left) {
        to_come.next();
        if chosen.time.0 < chosen.cost.time_least.0 / LEAST_PART {
            experiments.skipped.push(too_late(&chosen));
            continue;
        }
        let lab = Lab::open(env, &chosen, observer)?;
        let result = chosen.experiment.conduct(lab, experiments);
        let (elapsed, written_bytes) = chosen.experiment.used_up(experiments);
        left.time = left.time.since(elapsed);
        left.write_bytes = left.write_bytes.saturating_sub(written_bytes);
        keep(experiments);
        match result {
            Ok(()) | Err(LoadError::Block { .. } | LoadError::TooDeep { .. } | LoadError::Memory { .. }) => {}
            Err(error @ LoadError::AllFailed { .. }) => failed = failed.and(Err(error)),
            Err(error) => return Err(error),
        }
        if let Some(FailedRequests { requests, first_error }) = chosen.experiment.failed(experiments) {
            failed = failed.and(Err(LoadError::SomeFailed { requests, first: first_error }));
        }
    }
    failed
}

/// Less than this part of its least time is no time for an experiment.
const LEAST_PART: u64 = 2;

fn too_late(chosen: &Chosen) -> SkippedExperiment {
    let reason = format!(
        "it takes at least {}, and what came before it, which took longer than planned on this device, left {} for it; \
         give a larger --budget, or choose with --only",
        format_duration(chosen.cost.time_least),
        format_duration(chosen.time)
    );
    SkippedExperiment { name: chosen.experiment.name().into(), reason }
}

/// What follows for a database from all that was found.
pub fn derive(experiments: &mut Experiments, derived: &mut Derived) {
    for experiment in ALL {
        experiment.derive(experiments, derived);
    }
    // Two experiments time commits.
    derived.commit_ns = experiments.usual_commit();
}

/// The experiments that were begun and not brought to their end, with the reason.
pub fn ended_early(experiments: &mut Experiments) -> Vec<(&'static str, String)> {
    let ended = ALL.into_iter().map(|experiment| (experiment.name(), experiment.ended_by(experiments)));
    ended.filter_map(|(name, reason)| Some((name, reason?))).collect()
}

/// The experiments of whose requests some failed, with how many and the first failure.
pub fn with_failures(experiments: &mut Experiments) -> Vec<(&'static str, FailedRequests)> {
    let failed = ALL.into_iter().map(|experiment| (experiment.name(), experiment.failed(experiments)));
    failed.filter_map(|(name, failed)| Some((name, failed?))).collect()
}
