//! Combines repeated runs of a replay. On a real device, a single run is weak evidence: others use
//! the device, and its state changes.

use nandle_profile::Interval;
use serde::{Deserialize, Serialize};

use crate::PolicyOutcome;

/// Summary of the runs of a policy. Bounds are the smallest and largest values observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeats {
    /// Number of runs.
    pub runs: u32,
    /// Total time in nanoseconds: median, smallest and largest.
    pub elapsed_ns: Interval<u64>,
    /// Time of `direct` divided by the time of this policy in the same run: median, smallest and
    /// largest; `null` if `direct` didn't run.
    pub speedup_over_direct: Option<Interval<f64>>,
}

/// Merges the outcomes of several runs: returns the median run of each policy, with the summary of
/// all runs. For an even number of runs, the lower median is used. A policy that is missing from a
/// run is left out.
pub fn merge_repeats(runs: Vec<Vec<PolicyOutcome>>) -> Vec<PolicyOutcome> {
    if runs.len() == 1 {
        return runs.into_iter().flatten().collect();
    }
    let names: Vec<_> = runs.first().into_iter().flatten().map(|outcome| outcome.policy).collect();
    let of = |policy| {
        let own: Vec<PolicyOutcome> = runs
            .iter()
            .filter_map(|run| run.iter().find(|outcome| outcome.policy == policy).cloned())
            .collect();
        (own.len() == runs.len()).then_some(own)
    };
    names.into_iter().filter_map(of).filter_map(one_of).collect()
}

fn one_of(mut own: Vec<PolicyOutcome>) -> Option<PolicyOutcome> {
    own.sort_by_key(|outcome| outcome.elapsed_ns);
    let middle = (own.len().checked_sub(1)?) / 2;
    let (first, last) = (own.first()?.elapsed_ns, own.last()?.elapsed_ns);
    let mut speedups: Vec<f64> = own.iter().filter_map(|outcome| outcome.speedup_over_direct).collect();
    speedups.sort_by(f64::total_cmp);
    let speedup = (speedups.len() == own.len())
        .then(|| {
            Some(Interval { value: *speedups.get(middle)?, low: *speedups.first()?, high: *speedups.last()? })
        })
        .flatten();
    let runs = u32::try_from(own.len()).unwrap_or(u32::MAX);
    let median = own.swap_remove(middle);
    let elapsed_ns = Interval { value: median.elapsed_ns, low: first, high: last };
    Some(PolicyOutcome {
        speedup_over_direct: speedup.map(|speedup| speedup.value),
        repeats: Some(Repeats { runs, elapsed_ns, speedup_over_direct: speedup }),
        ..median
    })
}
