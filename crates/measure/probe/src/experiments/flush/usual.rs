//! The commit that a database makes by default, timed in turns with something else.

use nandle_io::Nanos;
use nandle_profile::experiments::{CommitCost, CommitMethod, ExtentState};

use super::super::{Circumstances, Lab};
use super::bytes_wanted;
use super::log::{Commit, Log};
use super::scenarios::PAGE_BYTES;
use super::sites::{CommitScenario, durability, log_on_device};
use super::trial::Trial;
use crate::load::LoadError;

/// A page, written and made durable: by `fdatasync` in a test file, or, where there are no files, on the device by a flush.
pub(in crate::experiments) struct UsualCommit {
    trial: Option<Trial>,
    device_log: Log,
}

impl UsualCommit {
    /// What it writes at most in so many slices.
    pub(in crate::experiments) fn bytes_wanted(circumstances: &Circumstances, rounds: usize) -> u64 {
        bytes_wanted(&scenario(circumstances, !circumstances.is_modelled), rounds)
    }

    /// Makes the file that it writes to in so many slices, or does without where none can be had.
    ///
    /// # Errors
    /// Memory is short, or the device fails.
    pub(in crate::experiments) fn new(lab: &mut Lab<'_>, rounds: usize) -> Result<Self, LoadError> {
        let device_log = log_on_device(lab)?;
        let mut trial = None;
        for in_file in [true, false] {
            let scenario = scenario(lab.circumstances, in_file);
            let write_bytes_max = bytes_wanted(&scenario, rounds).min(lab.write_left_bytes());
            // A file that takes all that may be written leaves nothing to commit with.
            let is_possible = !in_file || lab.host_files().is_some();
            if trial.is_none() && is_possible && write_bytes_max > scenario.fill_bytes() {
                trial = Trial::new(lab, scenario, write_bytes_max, rounds)?;
            }
        }
        Ok(Self { trial, device_log })
    }

    /// Commits for a time.
    ///
    /// # Errors
    /// The device fails, or the user ends it.
    pub(in crate::experiments) fn slice(&mut self, lab: &mut Lab<'_>, time: Nanos) -> Result<(), LoadError> {
        match &mut self.trial {
            Some(trial) => trial.slice(lab, &mut self.device_log, time),
            None => Ok(()),
        }
    }

    /// What it took; `None` where none was timed.
    pub(in crate::experiments) fn cost(&self) -> Option<CommitCost> {
        self.trial.as_ref()?.commit_cost()
    }
}

fn scenario(circumstances: &Circumstances, in_file: bool) -> CommitScenario {
    let method = if in_file { CommitMethod::Fdatasync } else { CommitMethod::WriteThenFlush };
    let write_bytes = PAGE_BYTES.next_multiple_of(circumstances.shape.logical_block_bytes);
    CommitScenario {
        method,
        extent: ExtentState::Overwritten,
        commit: Commit { write_bytes, writes: 1, writers: 1, durability: durability(method) },
        in_file,
    }
}
