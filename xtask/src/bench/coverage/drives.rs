//! Modelled drives with random parameters, and the programs that measure them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use crate::Outcome;
use crate::bench::agreement::Cell;
use crate::bench::io::json;
use crate::command::build_folder;

/// A random drive, in a file of parameters.
pub(super) struct RandomDrive {
    pub(super) about: String,
    pub(super) capacity_bytes: u64,
    file: PathBuf,
    folder: PathBuf,
}

impl RandomDrive {
    /// Drive of a seed.
    pub(super) fn new(seed: u64, folder: &Path) -> Outcome<Self> {
        let drawn = Drawn::new(seed);
        let file = folder.join(format!("random-{seed}.toml"));
        fs::write(&file, drawn.toml(seed))?;
        Ok(Self {
            about: drawn.about(),
            capacity_bytes: drawn.capacity_bytes(),
            file,
            folder: folder.to_owned(),
        })
    }

    /// Profile of a probe.
    pub(super) fn probe(&self, seed: u64, options: &[&str]) -> Outcome<Value> {
        let mut command = self.program("probe", seed);
        command.arg("--yes").arg("--profile").arg(self.folder.join("profile.json"));
        command.arg("--report").arg(self.folder.join("report.html"));
        json(command.args(options))
    }

    /// Cells of a sweep, each on a fresh drive.
    pub(super) fn sweep(&self, seed: u64, options: &[&str]) -> Outcome<Vec<Cell>> {
        Cell::all_of(&json(self.program("sweep", seed).args(options))?)
    }

    fn program(&self, name: &str, seed: u64) -> Command {
        let mut command = Command::new(build_folder().join("debug/nandle"));
        command.args([name, "--json", "--no-progress", &format!("--seed={seed}")]);
        command.arg(format!("model:{}", self.file.display()));
        command
    }
}

/// Random parameters.
struct Drawn {
    hybrid: bool,
    channels: u64,
    dies_per_channel: u64,
    page_bytes: u64,
    pages_per_block: u64,
    read_ns: u64,
    program_ns: u64,
    firmware_ns: u64,
    link_bytes_per_s: u64,
    depth: u64,
    buffer_bytes: u64,
    early: bool,
    units_per_page: u64,
    over_percent: u64,
    log_superblocks: u64,
    retried_per_mille: u64,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut of = |choices: &[u64]| choices.get(draw.random_range(0..choices.len())).copied().unwrap_or(1);
        let hybrid = !seed.is_multiple_of(2);
        Self {
            hybrid,
            channels: of(&[2, 4, 8]),
            dies_per_channel: of(&[1, 2, 4]),
            page_bytes: if hybrid { of(&[2048, 4096]) } else { of(&[4096, 8192]) },
            pages_per_block: of(&[32, 64]),
            read_ns: of(&[25_000, 50_000, 70_000]),
            program_ns: of(&[200_000, 400_000, 900_000]),
            firmware_ns: of(&[8_000, 15_000, 30_000]),
            link_bytes_per_s: of(&[150_000_000, 270_000_000, 540_000_000]),
            depth: if hybrid { of(&[1, 4]) } else { of(&[8, 32]) },
            buffer_bytes: of(&[1 << 18, 1 << 20, 4 << 20]),
            early: !hybrid,
            units_per_page: of(&[1, 2]),
            over_percent: of(&[107, 115, 130]),
            log_superblocks: of(&[3, 5, 8, 12]),
            retried_per_mille: of(&[0, 5, 20]),
        }
    }

    fn superblock_bytes(&self) -> u64 {
        self.channels * self.dies_per_channel * self.page_bytes * self.pages_per_block
    }

    /// A whole number of superblocks, with room for a log and a cleaner.
    fn capacity_bytes(&self) -> u64 {
        (1_u64 << 30).next_multiple_of(self.superblock_bytes())
    }

    fn mapping(&self) -> String {
        if self.hybrid {
            return format!(
                "kind = \"hybrid\"\nlog_superblocks = {}\nspare_superblocks = 8\n",
                self.log_superblocks
            );
        }
        format!(
            "kind = \"page\"\nunit_bytes = {}\nraw_over_user = {}.{:02}\nvictim = {{ policy = \"greedy\" }}\nseparation = \
             \"none\"\nlow_free_superblocks = 3\npace = {{ kind = \"burst\", superblocks = 1 }}\n",
            self.page_bytes / self.units_per_page,
            self.over_percent / 100,
            self.over_percent % 100
        )
    }

    fn about(&self) -> String {
        let kind = if self.hybrid {
            format!(
                "hybrid, {} log superblocks of {} KiB",
                self.log_superblocks,
                self.superblock_bytes() >> 10
            )
        } else {
            format!(
                "page map of {} KiB, {} % raw, buffer {} KiB",
                (self.page_bytes / self.units_per_page) >> 10,
                self.over_percent,
                self.buffer_bytes >> 10
            )
        };
        format!("{} dies, depth {}, {kind}", self.channels * self.dies_per_channel, self.depth)
    }

    // long: it is a file of parameters
    fn toml(&self, seed: u64) -> String {
        let Self {
            channels,
            dies_per_channel,
            page_bytes,
            pages_per_block,
            read_ns,
            program_ns,
            firmware_ns,
            link_bytes_per_s,
            depth,
            buffer_bytes,
            early,
            retried_per_mille,
            ..
        } = self;
        let (capacity_bytes, mapping) = (self.capacity_bytes(), self.mapping());
        format!(
            r#"kind = "flash"
name = "random-{seed}"
description = "A drive with random parameters"
capacity_bytes = {capacity_bytes}
[host]
split_bytes = 524_288
merge_bytes = 524_288
[command_queue]
queues = 1
depth = {depth}
segment_bytes = 131_072
[firmware]
read_ns = {firmware_ns}
write_ns = {firmware_ns}
flush_ns = 100_000
discard_ns = 20_000
latency_ns = 0
[link]
bytes_per_s = {link_bytes_per_s}
command_ns = 2_000
full_duplex = false
[write_buffer]
bytes = {buffer_bytes}
acknowledges_early = {early}
durability = "volatile"
write_through_ns = 0
[read_ahead]
trigger_commands = 0
fetch_commands = 0
least_fetch_bytes = 0
buffer_bytes = 0
streams = 1
physically_sequential = false
[chips]
channels = {channels}
dies_per_channel = {dies_per_channel}
planes = 1
page_bytes = {page_bytes}
pages_per_block = {pages_per_block}
read_ns = {read_ns}
read_retry = {{ part_of_pages = 0.{retried_per_mille:03}, part_of_pages_per_cycle = 0.0, again = 0.01, decode_ns = 20_000, seed = {seed} }}
program_ns = {program_ns}
erase_ns = 1_500_000
channel_bytes_per_s = 100_000_000
transfer_bytes = 2_048
copyback = true
[mapping]
{mapping}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_of_different_seeds_differ_and_are_the_same_again() {
        let texts: Vec<String> = (1..=5).map(|seed| Drawn::new(seed).toml(seed)).collect();
        assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(texts[3], Drawn::new(4).toml(4));
        assert!(texts.iter().all(|text| text.parse::<toml::Table>().is_ok()), "{texts:?}");
    }
}
