use nandle_io::Nanos;
use nandle_profile::experiments::{CommitCost, GroupCommitCost};
use nandle_units::format_bytes;

use super::super::Lab;
use super::log::Log;
use super::sites::{CommitScenario, Site};
use super::tally::Tally;
use crate::load::LoadError;

/// Most counted commits of a slice.
pub(super) const COMMITS_MAX: usize = 100;
/// Uncounted commits at the start of a slice, which absorb effects of earlier work.
pub(super) const FIRST_COMMITS: usize = 2;
/// Fewest commits of a slice, regardless of time.
const COMMITS_MIN: usize = 3;

/// A scenario with its destination and observations.
pub(super) struct Trial {
    pub(super) scenario: CommitScenario,
    /// `None` after a failure.
    site: Option<Site>,
    tally: Tally,
    /// Remaining write limit, and the number of slices that share it.
    write_left_bytes: u64,
    slices_left: u64,
}

impl Trial {
    /// Returns `None` if the scenario can't be tried. A remark then gives the reason.
    pub(super) fn new(
        lab: &mut Lab<'_>,
        scenario: CommitScenario,
        write_bytes_max: u64,
        rounds: usize,
    ) -> Result<Option<Self>, LoadError> {
        match Site::of(lab, &scenario) {
            Ok(site) => {
                let write_left_bytes = write_bytes_max.saturating_sub(scenario.fill_bytes());
                let (tally, slices_left) = (Tally::new(), rounds as u64);
                Ok(Some(Self { scenario, site: Some(site), tally, write_left_bytes, slices_left }))
            }
            Err(LoadError::Opening(reason)) => {
                lab.remark(format!("Some commits in files were not timed: {reason}."));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Most counted commits of the next slice; `None` if the write limit is too low for a slice.
    fn commits_max(&self) -> Option<usize> {
        let commits =
            |bytes: u64| usize::try_from(bytes / self.scenario.commit.bytes().max(1)).unwrap_or(usize::MAX);
        let in_all = commits(self.write_left_bytes).checked_sub(FIRST_COMMITS + COMMITS_MIN)? + COMMITS_MIN;
        let even = commits(self.write_left_bytes / self.slices_left.max(1)).saturating_sub(FIRST_COMMITS);
        Some(even.clamp(COMMITS_MIN, COMMITS_MAX).min(in_all))
    }

    /// Commits until the time is over or the share of the write limit is used up.
    pub(super) fn slice(
        &mut self,
        lab: &mut Lab<'_>,
        device_log: &mut Log,
        time: Nanos,
    ) -> Result<(), LoadError> {
        if self.site.is_none() {
            return Ok(());
        }
        let Some(commits_max) = self.commits_max() else {
            if self.tally.observations() == 0 {
                lab.out_of_writes();
            }
            return Ok(());
        };
        lab.report(&format!("{}, {}", self.scenario.method, format_bytes(self.scenario.commit.write_bytes)));
        let before_bytes = lab.write_left_bytes();
        let ends = lab.now() + time;
        let committed = self.commit_until(lab, device_log, ends, commits_max);
        self.write_left_bytes -= self.write_left_bytes.min(before_bytes - lab.write_left_bytes());
        self.slices_left -= self.slices_left.min(1);
        self.tally.end_slice();
        match committed {
            // A failing test file ends only its own commits.
            Err(error @ (LoadError::AllFailed { .. } | LoadError::Opening(_))) if self.scenario.in_file => {
                if let LoadError::AllFailed { requests, first } = &error {
                    lab.note_failed(*requests, first);
                }
                lab.cut_short(format!("commits in a test file ended: {error}"));
                self.site = None;
                Ok(())
            }
            other => other,
        }
    }

    fn commit_until(
        &mut self,
        lab: &mut Lab<'_>,
        device_log: &mut Log,
        ends: Nanos,
        commits_max: usize,
    ) -> Result<(), LoadError> {
        let Some(site) = &mut self.site else { return Ok(()) };
        for number in 0..FIRST_COMMITS + commits_max {
            let enough = self.tally.slice_count() >= COMMITS_MIN && lab.now() >= ends;
            if enough || !lab.may_write(self.scenario.commit.bytes()) {
                break;
            }
            let times = site.commit(lab, device_log, &self.scenario)?;
            if number >= FIRST_COMMITS {
                self.tally.count(times);
            }
        }
        Ok(())
    }

    pub(super) fn commit_cost(&self) -> Option<CommitCost> {
        Some(CommitCost {
            method: self.scenario.method,
            extent: self.scenario.extent,
            write_bytes: self.scenario.commit.write_bytes,
            writes_per_commit: self.scenario.commit.writes,
            in_file: self.scenario.in_file,
            observations: self.tally.observations(),
            commit_ns: self.tally.median_ns()?,
            latency_ns: self.tally.commit_latency(),
            flush_latency_ns: self.tally.flush_latency(),
        })
    }

    pub(super) fn group_cost(&self) -> Option<GroupCommitCost> {
        let writers = f64::from(self.scenario.commit.writers);
        let groups_per_s = self.tally.rate_per_s()?;
        let [value, low, high] =
            [groups_per_s.value, groups_per_s.low, groups_per_s.high].map(|rate| rate * writers);
        Some(GroupCommitCost {
            writers: self.scenario.commit.writers,
            write_bytes: self.scenario.commit.write_bytes,
            observations: self.tally.observations(),
            commits_per_s: nandle_profile::Interval { value, low, high },
            latency_ns: self.tally.commit_latency(),
        })
    }
}
