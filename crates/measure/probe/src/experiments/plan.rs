use nandle_io::Nanos;
use nandle_profile::{Experiments, SkippedExperiment};
use nandle_units::format_duration;

use super::reads::{budget_least, reads_time};
use super::shares::fair_shares;
use super::{ALL, Circumstances, Cost, DynExperiment, names};

/// Experiments selected by the user, and their budget.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Time for all of them, including the reads.
    pub budget: Nanos,
    /// Write limit of all of them, in bytes.
    pub write_limit_bytes: u64,
    /// Reason why nothing may be written, if any.
    pub read_only: Option<String>,
    /// Reason why only [essential](DynExperiment::is_essential) experiments may write, if any.
    pub essential_writes_only: Option<String>,
    /// Names to choose from; empty for all.
    pub only: Vec<String>,
    /// Names to leave out.
    pub skip: Vec<String>,
    /// True if the reads are already done and need no budget.
    pub reads_done: bool,
}

impl Selection {
    /// Returns true if `name` is selected and not skipped.
    pub fn selects(&self, name: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|other| other == name);
        !has(&self.skip) && (self.only.is_empty() || has(&self.only))
    }

    /// Returns true if every selected experiment is also skipped.
    pub fn is_empty(&self) -> bool {
        let is_skipped = |name: &str| self.skip.iter().any(|skipped| skipped == name);
        match self.only.as_slice() {
            [] => names().all(is_skipped),
            only => only.iter().all(|name| is_skipped(name)),
        }
    }

    /// Reason why an experiment may not write, if any.
    fn no_writes(&self, experiment: &dyn DynExperiment) -> Option<&str> {
        let no_bytes = (self.write_limit_bytes == 0).then_some("--write-limit allows nothing");
        let others = self.essential_writes_only.as_deref().filter(|_| !experiment.is_essential());
        self.read_only.as_deref().or(no_bytes).or(others)
    }
}

/// Planned experiments.
pub struct Plan {
    /// Time for the reads; `None` if they aren't selected or are already done.
    pub reads_time: Option<Nanos>,
    /// Experiments in order of execution.
    pub chosen: Vec<PlannedExperiment>,
    /// Skipped experiments with the reason.
    pub skipped: Vec<SkippedExperiment>,
    /// Budget of all of them.
    pub(super) left: RemainingBudget,
}

/// Experiment with its budget, assuming that earlier ones use theirs exactly.
#[derive(Clone, Copy)]
pub struct PlannedExperiment {
    /// The experiment.
    pub experiment: &'static dyn DynExperiment,
    /// Time budget.
    pub time: Nanos,
    /// Write limit in bytes.
    pub write_bytes_max: u64,
    /// Full cost.
    pub(super) cost: Cost,
}

/// Remaining budget.
#[derive(Clone, Copy)]
pub(super) struct RemainingBudget {
    pub(super) time: Nanos,
    pub(super) write_bytes: u64,
}

/// A selected name doesn't exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown experiment {name:?}; known: {known}")]
pub struct PlanError {
    /// The unknown name.
    pub name: String,
    /// All known names.
    pub known: String,
}

impl Plan {
    /// Most bytes written by all experiments.
    pub fn write_bytes_max(&self) -> u64 {
        self.chosen.iter().map(|chosen| chosen.write_bytes_max).fold(0, u64::saturating_add)
    }

    /// Most bytes written by experiments that aren't [essential](DynExperiment::is_essential).
    pub fn unessential_write_bytes_max(&self) -> u64 {
        let others = self.chosen.iter().filter(|chosen| !chosen.experiment.is_essential());
        others.map(|chosen| chosen.write_bytes_max).fold(0, u64::saturating_add)
    }

    /// Total time budget.
    pub fn time(&self) -> Nanos {
        Nanos(self.chosen.iter().map(|chosen| chosen.time.0).sum())
    }

    /// Total minimum time.
    pub fn time_least(&self) -> Nanos {
        Nanos(self.chosen.iter().map(|chosen| chosen.cost.time_least.0).sum())
    }

    /// Replaces the time budget.
    #[must_use]
    pub fn with_time(mut self, time: Nanos) -> Self {
        self.left.time = time;
        self.chosen = share_out(&self.chosen, self.left);
        self
    }
}

/// Chooses experiments within a budget. Complete ones are left out silently.
///
/// Each selected and possible experiment gets its minimum time while the budget lasts,
/// [essential](DynExperiment::is_essential) ones first. The rest of the time is shared in
/// proportion to what each can use beyond its minimum. Write limits are shared fairly: flushes,
/// which need little, are served in full before steady states. The shares are recomputed before
/// each experiment: unused budget passes to later experiments, and overruns are deducted.
///
/// # Errors
/// A name is unknown.
pub fn plan(
    circumstances: &Circumstances,
    selection: &Selection,
    done: &mut Experiments,
) -> Result<Plan, PlanError> {
    selection.only.iter().chain(&selection.skip).try_for_each(|name| check_name(name))?;
    let (mut possible, mut skipped) = (Vec::new(), Vec::new());
    for experiment in ALL.into_iter().filter(|experiment| !experiment.is_complete(done)) {
        match cost(experiment, circumstances, selection) {
            Ok(cost) => {
                possible.push(PlannedExperiment { experiment, time: Nanos::ZERO, write_bytes_max: 0, cost });
            }
            Err(reason) => skipped.push(SkippedExperiment { name: experiment.name().into(), reason }),
        }
    }
    let least: Vec<_> = possible.iter().map(|possible| possible.cost.time_least).collect();
    let reads_time = reads_time(selection, &least, essential_time(&possible));
    let time = selection.budget - reads_time.unwrap_or(Nanos::ZERO);
    let mut chosen = within(possible, time, selection, &mut skipped);
    if let [only] = chosen.as_mut_slice()
        && selection.only.len() == 1
        && only.experiment.gains_by_more()
        && !circumstances.is_modelled
    {
        only.cost.time_wanted = only.cost.time_wanted.max(time);
        only.cost.write_bytes_max = u64::MAX;
    }
    skipped.sort_by_key(|skipped| place(&skipped.name));
    // Without experiments the reads get the whole budget.
    let reads_time = reads_time.map(|time| if chosen.is_empty() { selection.budget } else { time });
    let left = RemainingBudget { time, write_bytes: selection.write_limit_bytes };
    Ok(Plan { reads_time, chosen: share_out(&chosen, left), skipped, left })
}

/// Chooses experiments while their minimum times fit, essential ones first. Returns them in order
/// of execution.
fn within(
    mut possible: Vec<PlannedExperiment>,
    time: Nanos,
    selection: &Selection,
    skipped: &mut Vec<SkippedExperiment>,
) -> Vec<PlannedExperiment> {
    possible.sort_by_key(|possible| !possible.experiment.is_essential());
    let essential = essential_time(&possible);
    let (mut left, mut least_until_here, mut chosen) = (time, Nanos::ZERO, Vec::new());
    for possible in possible {
        let least = possible.cost.time_least;
        least_until_here += least;
        if least > left {
            let budget = budget_least(selection, least_until_here, essential);
            let reason = too_long(selection, least, left, budget);
            skipped.push(SkippedExperiment { name: possible.experiment.name().into(), reason });
        } else {
            left = left - least;
            chosen.push(possible);
        }
    }
    chosen.sort_by_key(|chosen| place(chosen.experiment.name()));
    chosen
}

/// Total minimum time of the essential experiments.
fn essential_time(possible: &[PlannedExperiment]) -> Nanos {
    let essential = possible.iter().filter(|possible| possible.experiment.is_essential());
    Nanos(essential.map(|possible| possible.cost.time_least.0).sum())
}

/// Position in the order of execution.
fn place(name: &str) -> Option<usize> {
    ALL.iter().position(|experiment| experiment.name() == name)
}

fn too_long(selection: &Selection, least: Nanos, left: Nanos, budget: Nanos) -> String {
    let or_only = if selection.only.is_empty() { ", or --only" } else { "" };
    format!(
        "it takes at least {}, with {} left: give --budget {} or more{or_only}",
        format_duration(least),
        format_duration(left),
        format_duration(budget)
    )
}

fn check_name(name: &str) -> Result<(), PlanError> {
    if names().any(|known| known == name) {
        return Ok(());
    }
    let known = names().collect::<Vec<_>>().join(", ");
    Err(PlanError { name: name.into(), known })
}

/// Cost of an experiment, or the reason why it can't run at all.
fn cost(
    experiment: &'static dyn DynExperiment,
    circumstances: &Circumstances,
    selection: &Selection,
) -> Result<Cost, String> {
    if !selection.selects(experiment.name()) {
        return Err("it was not asked for".into());
    }
    let cost = experiment.cost(circumstances)?;
    match selection.no_writes(experiment).filter(|_| cost.write_bytes_max > 0) {
        Some(reason) => Err(format!("it writes, and {reason}")),
        None => Ok(cost),
    }
}

/// First of the remaining experiments, with its share of the remaining budget. Unused budget passes
/// to later experiments, and overruns are deducted.
pub(super) fn next_of(to_come: &[PlannedExperiment], left: RemainingBudget) -> Option<PlannedExperiment> {
    share_out(to_come, left).into_iter().next()
}

fn share_out(chosen: &[PlannedExperiment], left: RemainingBudget) -> Vec<PlannedExperiment> {
    let requests: Vec<u64> = chosen.iter().map(|chosen| chosen.cost.write_bytes_max).collect();
    let bytes = fair_shares(left.write_bytes, &requests);
    let times = times(chosen, left.time);
    let shares = chosen.iter().zip(times).zip(bytes);
    shares
        .map(|((chosen, time), write_bytes_max)| PlannedExperiment { time, write_bytes_max, ..*chosen })
        .collect()
}

/// Minimum times plus shares of the rest. If not even the minimum times are left, shares of what
/// is.
fn times(chosen: &[PlannedExperiment], left: Nanos) -> impl Iterator<Item = Nanos> {
    let least = |chosen: &PlannedExperiment| chosen.cost.time_least.0;
    let beyond = |chosen: &PlannedExperiment| chosen.cost.time_wanted.since(chosen.cost.time_least).0;
    let (least_all, beyond_all): (u64, u64) =
        (chosen.iter().map(least).sum(), chosen.iter().map(beyond).sum());
    let spare = left.0.saturating_sub(least_all).min(beyond_all);
    let own = move |chosen: &PlannedExperiment| {
        part(left.0.min(least_all), least(chosen), least_all) + part(spare, beyond(chosen), beyond_all)
    };
    chosen.iter().map(own).map(Nanos)
}

/// `amount × own / all`, rounded down; 0 if `all` is 0.
fn part(amount: u64, own: u64, all: u64) -> u64 {
    let product = u128::from(amount) * u128::from(own);
    product.checked_div(u128::from(all)).and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(least_s: u64, wanted_s: u64) -> PlannedExperiment {
        let cost = Cost {
            time_least: Nanos::from_secs(least_s),
            time_wanted: Nanos::from_secs(wanted_s),
            write_bytes_max: 100,
        };
        PlannedExperiment {
            experiment: &crate::experiments::atomic_write::AtomicWriteUnits,
            time: Nanos::ZERO,
            write_bytes_max: 0,
            cost,
        }
    }

    fn next_seconds(to_come: &[PlannedExperiment], left_s: u64) -> u64 {
        let left = RemainingBudget { time: Nanos::from_secs(left_s), write_bytes: 150 };
        next_of(to_come, left).unwrap().time.0 / 1_000_000_000
    }

    #[test]
    fn unused_budget_passes_to_later_experiments_and_overruns_are_deducted() {
        let both = [chosen(10, 30), chosen(10, 50)];
        assert_eq!(next_seconds(&both, 50), 20, "its minimum time, and a third of the 30 s beyond");
        assert_eq!(next_seconds(&both[1..], 30), 30, "the first took its 20 s");
        assert_eq!(next_seconds(&both[1..], 45), 45, "the first took 5 s");
        assert_eq!(next_seconds(&both[1..], 100), 50, "no experiment gets more than it can use");
        assert_eq!(next_seconds(&both[1..], 4), 4, "the first took 46 s");
        assert_eq!(next_seconds(&both, 10), 5, "the rest is shared in proportion to the minimum times");
        assert!(next_of(&[], RemainingBudget { time: Nanos::ZERO, write_bytes: 0 }).is_none());
    }

    #[test]
    fn bytes_are_shared_among_those_that_are_to_come() {
        let both = [chosen(10, 30), chosen(10, 50)];
        let left = |write_bytes| RemainingBudget { time: Nanos::from_secs(50), write_bytes };
        assert_eq!(next_of(&both, left(150)).unwrap().write_bytes_max, 75);
        assert_eq!(next_of(&both[1..], left(140)).unwrap().write_bytes_max, 100);
    }
}
