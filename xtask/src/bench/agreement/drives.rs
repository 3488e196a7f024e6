//! The drives, and the program run on them.

use std::process::Command;

use serde_json::Value;

use super::cells::Cells;
use crate::Outcome;
use crate::bench::io::{json, nandle_program};

/// A modelled drive, and how long it takes to know it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drive {
    pub(super) name: &'static str,
    /// Of a cell that reads.
    read_time: &'static str,
    /// Of a cell that writes, the first of which ends it: time, and bytes.
    write_time: &'static str,
    write_bytes: &'static str,
}

/// A block map, a small page map, a fast one, and a disk.
pub(super) const DRIVES: [Drive; 4] = [
    Drive { name: "mtron-16", read_time: "2s", write_time: "120s", write_bytes: "8GiB" },
    Drive { name: "x25-e-64", read_time: "2s", write_time: "600s", write_bytes: "12GiB" },
    Drive { name: "nvme-tlc", read_time: "250ms", write_time: "300s", write_bytes: "40GiB" },
    Drive { name: "barracuda-7200.10", read_time: "60s", write_time: "600s", write_bytes: "8GiB" },
];

impl Drive {
    /// The profile of a probe.
    pub(super) fn probe(&self, options: &[&str]) -> Outcome<Value> {
        let directory = std::env::temp_dir().join(format!("nandle-agreement-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let mut command = Command::new(nandle_program());
        command.args(["probe", "--json", "--no-progress", "--yes"]).arg(format!("model:{}", self.name));
        command.arg("--profile").arg(directory.join("profile.json"));
        command.arg("--report").arg(directory.join("report.html"));
        let profile = json(command.args(options));
        std::fs::remove_dir_all(directory)?;
        profile
    }

    /// A sweep that reads, with what is to be swept.
    pub(super) fn read(&self, space: &[&str]) -> Outcome<Cells> {
        self.sweep(space, &[&format!("--time-per-run={}", self.read_time)])
    }

    /// A sweep that writes, each cell for long.
    pub(super) fn write(&self, space: &[&str]) -> Outcome<Cells> {
        let time = format!("--time-per-run={}", self.write_time);
        let bytes = format!("--bytes-per-run={}", self.write_bytes);
        self.sweep(space, &["--operation=write", &time, &bytes])
    }

    /// A sweep that writes, each cell no longer than one that reads.
    pub(super) fn write_briefly(&self, space: &[&str]) -> Outcome<Cells> {
        self.sweep(space, &["--operation=write", &format!("--time-per-run={}", self.read_time)])
    }

    fn sweep(&self, space: &[&str], lengths: &[&str]) -> Outcome<Cells> {
        let mut command = Command::new(nandle_program());
        command.args(["sweep", "--json", "--no-progress"]).arg(format!("model:{}", self.name));
        Cells::of(&json(command.args(space).args(lengths))?)
    }
}
