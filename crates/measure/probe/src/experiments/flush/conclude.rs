//! Derived figures for databases: commit time, time to make a page durable, and gain of group
//! commit.

use nandle_profile::experiments::{CommitCost, CommitMethod, ExtentState, FlushCosts, GroupCommitCost};
use nandle_profile::{CommitTime, Derived, GroupCommitGain, Interval, NEAR_FULL_SHARE};

use super::scenarios::PAGE_BYTES;
use super::trial::Trial;

/// Share of the best rate from which more writers gain nothing.
const NEAR: f64 = NEAR_FULL_SHARE;

/// Costs of groups that share a flush, and of groups in which each writer writes durably.
pub(super) fn groups(trials: &[Trial]) -> (Vec<GroupCommitCost>, Vec<GroupCommitCost>) {
    let of = |method: CommitMethod| {
        let trials = trials.iter().filter(|trial| trial.scenario.method == method);
        trials.filter_map(Trial::group_cost).collect()
    };
    (of(CommitMethod::WriteThenFlush), of(CommitMethod::DurableWrite))
}

pub(super) fn derive(findings: &FlushCosts, derived: &mut Derived) {
    derived.flush_ns = soonest(&findings.commits);
    derived.group_commit = gain(&findings.group_commit);
}

/// Fastest commit of a page to the device, or of the size nearest to a page.
fn soonest(commits: &[CommitCost]) -> Option<CommitTime> {
    let candidates = || {
        let plain = |cost: &&CommitCost| {
            cost.extent == ExtentState::Overwritten && cost.writes_per_commit == 1 && !cost.in_file
        };
        commits.iter().filter(plain)
    };
    let nearest = candidates().map(|cost| cost.write_bytes).min_by_key(|bytes| bytes.abs_diff(PAGE_BYTES))?;
    let soonest = candidates()
        .filter(|cost| cost.write_bytes == nearest)
        .min_by(|a, b| a.commit_ns.value.total_cmp(&b.commit_ns.value))?;
    Some(CommitTime::of(soonest))
}

/// Smallest number of writers within 10 % of the best commit rate.
fn gain(groups: &[GroupCommitCost]) -> Option<GroupCommitGain> {
    let alone = groups.iter().find(|group| group.writers == 1)?;
    let least = |reaches: &dyn Fn(&GroupCommitCost, &GroupCommitCost) -> bool| {
        let best = groups.iter().max_by(|a, b| a.commits_per_s.value.total_cmp(&b.commits_per_s.value))?;
        groups.iter().find(|group| reaches(group, best))
    };
    let chosen = least(&|group, best| group.commits_per_s.value >= NEAR * best.commits_per_s.value)?;
    let low = least(&|group, best| group.commits_per_s.high >= NEAR * best.commits_per_s.low)?;
    let high = least(&|group, best| group.commits_per_s.low >= NEAR * best.commits_per_s.high);
    let high = high.or(groups.last())?;
    Some(GroupCommitGain {
        alone_per_s: alone.commits_per_s,
        writers: Interval {
            value: chosen.writers,
            low: low.writers.min(chosen.writers),
            high: high.writers.max(chosen.writers),
        },
        together_per_s: chosen.commits_per_s,
    })
}
