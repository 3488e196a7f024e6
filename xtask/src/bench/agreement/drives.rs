//! Modelled drives, and the programs that measure them.

use std::process::Command;

use serde_json::Value;

use super::cells::Cell;
use crate::Outcome;
use crate::bench::io::{json, nandle_program};

/// A modelled drive, with the run times that characterise it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drive {
    pub(super) name: &'static str,
    /// Run time of a read cell.
    read_time: &'static str,
    /// Run time and bytes of a write cell; the first limit reached ends it.
    write_time: &'static str,
    write_bytes: &'static str,
    /// Block size with which a probe writes up to the steady state.
    pub(super) steady_blocks: &'static str,
}

const fn drive(
    name: &'static str,
    read_time: &'static str,
    [write_time, write_bytes]: [&'static str; 2],
) -> Drive {
    Drive { name, read_time, write_time, write_bytes, steady_blocks: "4K" }
}

/// One drive with a block map, two with a small page map, a fast one, one with few chips, and a
/// disk.
pub(super) static DRIVES: [Drive; 6] = [
    drive("mtron-16", "2s", ["120s", "8GiB"]),
    drive("x25-e-64", "2s", ["600s", "12GiB"]),
    drive("x25-m-g2", "2s", ["600s", "12GiB"]),
    Drive { steady_blocks: "16K,32K,64K", ..drive("nvme-tlc", "250ms", ["300s", "40GiB"]) },
    drive("samsung-mcaqe32", "4s", ["600s", "8GiB"]),
    drive("barracuda-7200.10", "60s", ["600s", "8GiB"]),
];

impl Drive {
    /// Profile of a probe.
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

    /// Runs a read sweep over `space`.
    pub(super) fn read(&self, seed: u64, space: &[&str]) -> Outcome<Vec<Cell>> {
        self.sweep(seed, space, &[&format!("--time-per-run={}", self.read_time)])
    }

    /// Runs a write sweep with long cells.
    pub(super) fn write(&self, seed: u64, space: &[&str]) -> Outcome<Vec<Cell>> {
        let time = format!("--time-per-run={}", self.write_time);
        let bytes = format!("--bytes-per-run={}", self.write_bytes);
        self.sweep(seed, space, &["--operation=write", &time, &bytes])
    }

    /// Runs a write sweep with cells as short as those of reads.
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
