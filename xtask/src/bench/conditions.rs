//! Conditions of compared runs: disk speed, memory of the group, and cold or warm files.

use std::path::Path;
use std::process::Command;

use super::cgroup::Group;
use super::contained::{self, Contained};
use super::machine::disk_numbers;
use super::speed::Speed;
use crate::Outcome;

pub(super) struct Conditions<'a> {
    pub(super) speed: Speed,
    /// Memory limit of the group, page cache included.
    pub(super) group_bytes: u64,
    /// Folder on the disk whose reads are counted and limited.
    pub(super) folder: &'a Path,
}

impl Conditions<'_> {
    /// Runs a program that reads `files`, or returns the reason why it can't have a group. Before a
    /// warm run the files are read from outside the group, so that their pages aren't charged to
    /// it, and the program runs once.
    pub(super) fn run(&self, command: &Command, files: &Path) -> Outcome<Result<Contained, String>> {
        match self.speed {
            Speed::AsIs | Speed::Limited => contained::forget(files)?,
            Speed::Warm => {
                contained::remember(files)?;
                let before = self.run_now(command)?;
                if !before.as_ref().is_ok_and(|ran| ran.said.is_ok()) {
                    return Ok(before);
                }
            }
        }
        self.run_now(command)
    }

    fn run_now(&self, command: &Command) -> Outcome<Result<Contained, String>> {
        match self.group() {
            Some(group) => Ok(Ok(contained::run(command, Some(&group), self.folder)?)),
            None => Ok(Err("no cgroup limits memory and reads here".to_owned())),
        }
    }

    /// A group with these limits, or `None` if the system doesn't permit it.
    pub(super) fn group(&self) -> Option<Group> {
        Group::make(self.group_bytes)?.with_reads(&disk_numbers(self.folder)?, self.speed.limit())
    }
}
