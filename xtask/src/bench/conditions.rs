//! Under which conditions programs run beside one another: a disk's speed, a group's memory, and files that are cold or warm.

use std::path::Path;
use std::process::Command;

use super::cgroup::Group;
use super::contained::{self, Contained};
use super::machine::disk_numbers;
use super::speed::Speed;
use crate::Outcome;

pub(super) struct Conditions<'a> {
    pub(super) speed: Speed,
    /// What the group has, page cache included.
    pub(super) group_bytes: u64,
    /// A folder on the disk whose reads are counted and limited.
    pub(super) folder: &'a Path,
}

impl Conditions<'_> {
    /// Runs a program that reads some files, or says why there is no group for it. Before a warm run the files are read from outside the
    /// group, which holds nothing of them then, and the program has run once.
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

    /// A group with these limits; none where the system doesn't let us.
    pub(super) fn group(&self) -> Option<Group> {
        Group::make(self.group_bytes)?.with_reads(&disk_numbers(self.folder)?, self.speed.limit())
    }
}
