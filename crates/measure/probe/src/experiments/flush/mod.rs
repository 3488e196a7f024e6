//! *What does a commit cost, and what does sharing a flush gain?*
//!
//! Commits are appended to a circular log of 16 MiB at the start of the area: a write and a flush,
//! or a durable write, of 512 bytes to 64 KiB. In a directory, test files are measured as well,
//! with blocking system calls as in `pg_test_fsync` (`open_datasync`, `fdatasync`, `fsync`,
//! `open_sync`, with one and two writes of 8 kB). Their extents are overwritten, extended, or
//! reserved and never written. In turns with that, 1 to 128 writers write concurrently and share
//! one flush, or each write durably. Sessions of a disk-bound database form such groups: a commit
//! that arrives during a flush shares the next one.
//!
//! The experiment writes small blocks to one place, each followed by a flush: a few hundred MiB in
//! all, more on fast devices. `pg_test_fsync` also tests whether another descriptor's `fsync`
//! covers a file's writes. Linux guarantees this, so it isn't tested here.

mod conclude;
mod log;
mod scenarios;
mod sites;
mod tally;
mod trial;
mod usual_commit;

use nandle_io::Nanos;
use nandle_profile::experiments::FlushCosts;
use nandle_profile::{Conducted, Derived, Experiments};

use self::scenarios::{groups, scenarios};
use self::sites::{CommitScenario, log_on_device};
use self::trial::Trial;
pub(super) use self::usual_commit::UsualCommit;
use super::rounds::{Rounds, Turns};
use super::shares::fair_shares;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct FlushAndCommit;

/// Number of rounds. With [`trial::COMMITS_MAX`] commits each, they give more than the thousand
/// commits that a 99th percentile needs.
const ROUNDS_MAX: usize = 11;
/// Longer than in other experiments, for slow devices.
const SLICE_MAX: Nanos = Nanos::from_millis(1000);

impl Experiment for FlushAndCommit {
    type Findings = FlushCosts;

    fn name(&self) -> &'static str {
        "flush"
    }

    fn question(&self) -> &'static str {
        "What does a commit cost, and what does sharing a flush gain?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !circumstances.shape.writable {
            return Err("the device was opened for reading".into());
        }
        let mut all = scenarios(circumstances, !circumstances.is_modelled);
        all.extend(groups(circumstances));
        let cells = all.len() as u64;
        Ok(Cost {
            time_least: Nanos::from_millis(200 * cells),
            time_wanted: Nanos::from_millis(6000 * cells),
            write_bytes_max: all.iter().map(|scenario| bytes_wanted(scenario, ROUNDS_MAX)).sum(),
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<FlushCosts>> {
        &mut experiments.flush
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut FlushCosts) -> Result<(), LoadError> {
        let mut scenarios = allotted(lab, scenarios(lab.circumstances, lab.host_files().is_some()));
        let together = scenarios.split_off(scenarios.len() - groups(lab.circumstances).len());
        let mut alone = trials(lab, scenarios)?;
        let mut together = trials(lab, together)?;
        // In turns, so that a change of the drive's state affects all of them equally.
        let timed = time_all(lab, &mut alone.iter_mut().chain(&mut together).collect::<Vec<_>>());
        findings.commits = alone.iter().filter_map(Trial::commit_cost).collect();
        (findings.group_commit, findings.each_durable) = conclude::groups(&together);
        timed
    }

    fn derive(&self, findings: &FlushCosts, derived: &mut Derived) {
        conclude::derive(findings, derived);
    }
}

/// Bytes of the commits that the quantiles need.
fn bytes_wanted(scenario: &CommitScenario, rounds: usize) -> u64 {
    let commits = (rounds * (trial::COMMITS_MAX + trial::FIRST_COMMITS)) as u64;
    scenario.commit.bytes() * commits + scenario.fill_bytes()
}

/// Scenarios and groups with their write limits. If the limit is low, large commits are reduced and
/// small ones run in full.
fn allotted(lab: &Lab<'_>, mut scenarios: Vec<CommitScenario>) -> Vec<(CommitScenario, u64)> {
    scenarios.extend(groups(lab.circumstances));
    let requests: Vec<u64> = scenarios.iter().map(|scenario| bytes_wanted(scenario, ROUNDS_MAX)).collect();
    let shares = fair_shares(lab.write_left_bytes(), &requests);
    scenarios.into_iter().zip(shares).collect()
}

fn trials(lab: &mut Lab<'_>, scenarios: Vec<(CommitScenario, u64)>) -> Result<Vec<Trial>, LoadError> {
    let mut trials = Vec::new();
    let (scenarios, too_costly): (Vec<_>, Vec<_>) = scenarios
        .into_iter()
        .partition(|(scenario, write_bytes_max)| *write_bytes_max > scenario.fill_bytes());
    if !too_costly.is_empty() {
        lab.cut_short("the write limit is too low for all commit methods; give a larger --write-limit");
    }
    for (scenario, write_bytes_max) in scenarios {
        trials.extend(Trial::new(lab, scenario, write_bytes_max, ROUNDS_MAX)?);
    }
    Ok(trials)
}

/// Times trials in turns. Observations before an error are kept.
fn time_all(lab: &mut Lab<'_>, trials: &mut [&mut Trial]) -> Result<(), LoadError> {
    let numbers: Vec<usize> = (0..trials.len()).collect();
    let turns = Turns { time: lab.time_left(), rounds_max: ROUNDS_MAX, slice_max: SLICE_MAX };
    let mut device_log = log_on_device(lab)?;
    let timed = Rounds::measure(lab, &numbers, turns, |lab, number, time| {
        let Some(trial) = trials.get_mut(*number) else { return Ok(None) };
        trial.slice(lab, &mut device_log, time).map(|()| None)
    });
    timed.map(|_| ())
}
