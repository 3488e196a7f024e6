//! The drives, and the program run on them.

use std::process::Command;

use serde_json::Value;

use super::cells::Cell;
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
    /// Blocks in which a probe writes until the state is steady.
    pub(super) steady_blocks: &'static str,
}

const fn drive(
    name: &'static str,
    read_time: &'static str,
    [write_time, write_bytes]: [&'static str; 2],
) -> Drive {
    Drive { name, read_time, write_time, write_bytes, steady_blocks: "4K" }
}

/// A block map, two small page maps, a fast one, one of few chips, and a disk.
pub(super) static DRIVES: [Drive; 6] = [
    drive("mtron-16", "2s", ["120s", "8GiB"]),
    drive("x25-e-64", "2s", ["600s", "12GiB"]),
    drive("x25-m-g2", "2s", ["600s", "12GiB"]),
    Drive { steady_blocks: "16K,32K,64K", ..drive("nvme-tlc", "250ms", ["300s", "40GiB"]) },
    drive("samsung-mcaqe32", "4s", ["600s", "8GiB"]),
    drive("barracuda-7200.10", "60s", ["600s", "8GiB"]),
];

impl Drive {
    /// The profile of a probe.
    pub(super) fn probe(&self, seed: u64, options: &[&str]) -> Outcome<Value> {
        let directory = std::env::temp_dir().join(format!("nandle-agreement-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let mut command = Command::new(nandle_program());
        command.args(["probe", "--json", "--no-progress", "--yes"]).arg(format!("model:{}", self.name));
        command.arg(format!("--seed={seed}"));
        command.arg("--profile").arg(directory.join("profile.json"));
        command.arg("--report").arg(directory.join("report.html"));
        let profile = json(command.args(options));
        std::fs::remove_dir_all(directory)?;
        profile
    }

    /// A sweep that reads, with what is to be swept.
    pub(super) fn read(&self, seed: u64, space: &[&str]) -> Outcome<Vec<Cell>> {
        self.sweep(seed, space, &[&format!("--time-per-run={}", self.read_time)])
    }

    /// A sweep that writes, each cell for long.
    pub(super) fn write(&self, seed: u64, space: &[&str]) -> Outcome<Vec<Cell>> {
        let time = format!("--time-per-run={}", self.write_time);
        let bytes = format!("--bytes-per-run={}", self.write_bytes);
        self.sweep(seed, space, &["--operation=write", &time, &bytes])
    }

    /// A sweep that writes, each cell no longer than one that reads.
    pub(super) fn write_briefly(&self, seed: u64, space: &[&str]) -> Outcome<Vec<Cell>> {
        self.sweep(seed, space, &["--operation=write", &format!("--time-per-run={}", self.read_time)])
    }

    fn sweep(&self, seed: u64, space: &[&str], lengths: &[&str]) -> Outcome<Vec<Cell>> {
        let mut command = Command::new(nandle_program());
        command.args(["sweep", "--json", "--no-progress"]).arg(format!("model:{}", self.name));
        command.arg(format!("--seed={seed}"));
        Cell::all_of(&json(command.args(space).args(lengths))?)
    }
}
