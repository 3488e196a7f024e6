use nandle_io::{DriveCounters, Nanos};
use nandle_profile::experiments::FailedRequests;
use nandle_profile::{Derived, Experiments, SkippedExperiment};
use nandle_units::format_duration;

use super::plan::next_of;
use super::{ALL, Circumstances, HostFiles, Lab, Plan, PlannedExperiment};
use crate::Observer;
use crate::load::{Cancel, LoadError, Opener};

/// Environment shared by all experiments of a probe.
pub struct ExperimentEnv<'a> {
    /// Opens the device in a separate world.
    pub open: &'a Opener<'a>,
    /// Opens the device with its write cache off; `None` if that would change the device's
    /// settings.
    pub open_without_cache: Option<&'a Opener<'a>>,
    /// Reads the counters of the drive's own log; `None` if there is no readable log. Modelled
    /// drives provide counters through their world.
    pub drive_log: &'a dyn Fn() -> Option<DriveCounters>,
    /// Files and blocking calls of the host; `None` in a modelled world.
    pub host_files: Option<&'a dyn HostFiles>,
    /// Device and environment as seen by the experiments.
    pub circumstances: Circumstances,
    /// Size of the read pool, as in [`LaneOptions`](crate::load::LaneOptions).
    pub read_pool_bytes: u64,
    /// Time without completions after which a run is abandoned.
    pub patience: Nanos,
    /// Seed of all random choices.
    pub seed: u64,
    /// Interrupts the experiments.
    pub cancel: &'a Cancel,
}

/// Runs the planned experiments one after the other, each in its own lab. Calls `keep` after each.
///
/// If requests fail, the next experiment still runs, since a drive that refuses writes may still
/// serve reads. An experiment that the device can't serve is recorded as ended early.
///
/// # Errors
/// The user interrupted it, or the device failed or stopped answering. `experiments` then holds the
/// findings so far. Otherwise, the first failure of requests is returned at the end, even if other
/// requests succeeded.
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

/// An experiment with less than one in `LEAST_PART` of its minimum time isn't started.
const LEAST_PART: u64 = 2;

fn too_late(chosen: &PlannedExperiment) -> SkippedExperiment {
    let reason = format!(
        "it needs at least {}, but earlier experiments took longer than planned and left {}; give a larger \
         --budget, or select with --only",
        format_duration(chosen.cost.time_least),
        format_duration(chosen.time)
    );
    SkippedExperiment { name: chosen.experiment.name().into(), reason }
}

/// Computes derived figures from all findings.
pub fn derive(experiments: &mut Experiments, derived: &mut Derived) {
    for experiment in ALL {
        experiment.derive(experiments, derived);
    }
    // Two experiments time commits.
    derived.commit_ns = experiments.usual_commit();
}

/// Experiments that ended early, with the reason.
pub fn ended_early(experiments: &mut Experiments) -> Vec<(&'static str, String)> {
    let ended = ALL.into_iter().map(|experiment| (experiment.name(), experiment.ended_by(experiments)));
    ended.filter_map(|(name, reason)| Some((name, reason?))).collect()
}

/// Experiments with failed requests: their number and the first failure.
pub fn with_failures(experiments: &mut Experiments) -> Vec<(&'static str, FailedRequests)> {
    let failed = ALL.into_iter().map(|experiment| (experiment.name(), experiment.failed(experiments)));
    failed.filter_map(|(name, failed)| Some((name, failed?))).collect()
}
