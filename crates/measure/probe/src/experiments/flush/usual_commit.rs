//! A database's default commit, timed in turns with other loads.

use nandle_io::Nanos;
use nandle_profile::experiments::{CommitCost, CommitMethod, ExtentState};

use super::super::{Circumstances, Lab};
use super::bytes_wanted;
use super::log::{Commit, Log};
use super::scenarios::PAGE_BYTES;
use super::sites::{CommitScenario, durability, log_on_device};
use super::trial::Trial;
use crate::load::LoadError;

/// Commit of one page: by `fdatasync` in a test file, or by a flush on the device if there are no
/// files.
pub(in crate::experiments) struct UsualCommit {
    trial: Option<Trial>,
    device_log: Log,
}

impl UsualCommit {
    /// Most bytes written in `rounds` slices.
    pub(in crate::experiments) fn bytes_wanted(circumstances: &Circumstances, rounds: usize) -> u64 {
        bytes_wanted(&scenario(circumstances, !circumstances.is_modelled), rounds)
    }

    /// Creates the test file for `rounds` slices, or uses the device if no file can be created.
    ///
    /// # Errors
    /// Memory is short, or the device fails.
    pub(in crate::experiments) fn new(lab: &mut Lab<'_>, rounds: usize) -> Result<Self, LoadError> {
        let device_log = log_on_device(lab)?;
        let mut trial = None;
        for in_file in [true, false] {
            let scenario = scenario(lab.circumstances, in_file);
            let write_bytes_max = bytes_wanted(&scenario, rounds).min(lab.write_left_bytes());
            // The file must not use up the whole write limit.
            let is_possible = !in_file || lab.host_files().is_some();
            if trial.is_none() && is_possible && write_bytes_max > scenario.fill_bytes() {
                trial = Trial::new(lab, scenario, write_bytes_max, rounds)?;
            }
        }
        Ok(Self { trial, device_log })
    }

    /// Commits until the time is over.
    ///
    /// # Errors
    /// The device fails, or the user interrupted it.
    pub(in crate::experiments) fn slice(&mut self, lab: &mut Lab<'_>, time: Nanos) -> Result<(), LoadError> {
        match &mut self.trial {
            Some(trial) => trial.slice(lab, &mut self.device_log, time),
            None => Ok(()),
        }
    }

    /// Cost of the commits; `None` if none was timed.
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
