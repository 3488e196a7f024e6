use nandle_io::Nanos;
use nandle_io::units::format_duration;
use nandle_profile::{Experiments, SkippedExperiment};

use super::shares::fair_shares;
use super::{ALL, Circumstances, Conductible, Cost};

/// What a user wants of the experiments.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Time for all of them.
    pub budget: Nanos,
    /// Bytes that all of them together may write.
    pub write_limit_bytes: u64,
    /// Why nothing may be written; `None` when it may.
    pub read_only: Option<String>,
    /// Names of those to choose from; empty for all.
    pub only: Vec<String>,
    /// Names of those to leave out.
    pub skip: Vec<String>,
}

impl Wishes {
    /// Why nothing may be written; `None` when something may.
    pub fn no_writes(&self) -> Option<&str> {
        let no_bytes = (self.write_limit_bytes == 0).then_some("--write-limit allows nothing");
        self.read_only.as_deref().or(no_bytes)
    }
}

/// What will be run.
pub struct Plan {
    /// What was chosen, in the order in which it runs.
    pub chosen: Vec<Chosen>,
    /// What was not, with the reason.
    pub skipped: Vec<SkippedExperiment>,
}

/// An experiment with what it may use up.
#[derive(Clone, Copy)]
pub struct Chosen {
    /// Which one.
    pub experiment: &'static dyn Conductible,
    /// Its time.
    pub time: Nanos,
    /// Bytes that it may write.
    pub write_bytes_max: u64,
    /// Bytes that it would like to write, if others leave them.
    pub write_bytes_wanted: u64,
}

/// The wishes can't be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no experiment {name:?}; there are: {known}")]
pub struct PlanError {
    /// The name that was given.
    pub name: String,
    /// Those that there are.
    pub known: String,
}

impl Plan {
    /// Bytes that will be written at most.
    pub fn write_bytes_max(&self) -> u64 {
        self.chosen.iter().map(|chosen| chosen.write_bytes_max).fold(0, u64::saturating_add)
    }

    /// Time that all of it takes at most.
    pub fn time(&self) -> Nanos {
        Nanos(self.chosen.iter().map(|chosen| chosen.time.0).sum())
    }
}

/// Chooses experiments. Those that are complete already are left out without a word.
///
/// Each that is wanted and possible gets its least time, one after the other, as long as the budget lasts; what is left
/// is shared out in proportion to what each would like beyond it. Bytes to write are shared out fairly: flushes, which
/// take few, get all that they would like before steady states, which take what they get.
///
/// # Errors
/// A name isn't known.
pub fn plan(
    circumstances: &Circumstances,
    wishes: &Wishes,
    done: &mut Experiments,
) -> Result<Plan, PlanError> {
    wishes.only.iter().chain(&wishes.skip).try_for_each(|name| check_name(name))?;
    let mut budget = wishes.budget;
    let (mut chosen, mut skipped) = (Vec::new(), Vec::new());
    for experiment in ALL.into_iter().filter(|experiment| !experiment.is_complete(done)) {
        match choose(experiment, circumstances, wishes, budget) {
            Ok(cost) => {
                budget = budget - cost.time_least;
                chosen.push((experiment, cost));
            }
            Err(reason) => skipped.push(SkippedExperiment { name: experiment.name().into(), reason }),
        }
    }
    Ok(Plan { chosen: share_out(&chosen, budget, wishes.write_limit_bytes), skipped })
}

fn check_name(name: &str) -> Result<(), PlanError> {
    if ALL.iter().any(|experiment| experiment.name() == name) {
        return Ok(());
    }
    let known = ALL.map(Conductible::name).join(", ");
    Err(PlanError { name: name.into(), known })
}

/// What it costs, or why it isn't run.
fn choose(
    experiment: &'static dyn Conductible,
    circumstances: &Circumstances,
    wishes: &Wishes,
    left: Nanos,
) -> Result<Cost, String> {
    let is_named = |names: &[String]| names.iter().any(|name| name == experiment.name());
    if is_named(&wishes.skip) || !(wishes.only.is_empty() || is_named(&wishes.only)) {
        return Err("it was not asked for".into());
    }
    let cost = experiment.cost(circumstances)?;
    if let Some(reason) = wishes.no_writes().filter(|_| cost.write_bytes_max > 0) {
        return Err(format!("it writes, and {reason}"));
    }
    if cost.time_least > left {
        return Err(format!(
            "it takes at least {}, and {} of the budget were left for it; give a larger --budget, or choose with --only",
            format_duration(cost.time_least),
            format_duration(left)
        ));
    }
    Ok(cost)
}

fn share_out(
    chosen: &[(&'static dyn Conductible, Cost)],
    left: Nanos,
    write_limit_bytes: u64,
) -> Vec<Chosen> {
    let beyond = |cost: &Cost| cost.time_wanted.since(cost.time_least).0;
    let beyond_all: u64 = chosen.iter().map(|(_, cost)| beyond(cost)).sum();
    let wants: Vec<u64> = chosen.iter().map(|(_, cost)| cost.write_bytes_max).collect();
    let shares = fair_shares(write_limit_bytes, &wants);
    let chosen = chosen.iter().zip(shares).map(|((experiment, cost), write_bytes_max)| Chosen {
        experiment: *experiment,
        time: cost.time_least + Nanos(part(left.0.min(beyond_all), beyond(cost), beyond_all)),
        write_bytes_max,
        write_bytes_wanted: cost.write_bytes_max,
    });
    chosen.collect()
}

/// `amount × own / all`, rounded down; 0 of nothing.
fn part(amount: u64, own: u64, all: u64) -> u64 {
    let product = u128::from(amount) * u128::from(own);
    product.checked_div(u128::from(all)).and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
}
