//! The advice, and its fragments in the real thing: servers and libraries of this machine load them, and what nothing here
//! can load is held against its documented format.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "all of it is tests, though not every function is marked as one"
)]

mod advice;
mod comparing;
mod expert;
mod honest;
mod hostile;
mod linux;
mod made_up;
mod mariadb;
mod noise;
mod pages;
mod postgresql;
mod programs;
mod rocksdb;
mod seastar;
mod space;
mod sqlite;
mod threads;
mod verdict;
mod warnings;

use nandle_advise::settings::{Advice, Question, Version, Workload};
use nandle_advise::{Product, advise, fragment};
use nandle_profile::DeviceProfile;

fn question(product: Product, version: Version) -> Question {
    Question { product, version, workload: Workload::Oltp, sessions: 16, memory_bytes: Some(1 << 30) }
}

fn advice(profile: &DeviceProfile, product: Product, version: Version) -> Advice {
    advise(profile, &question(product, version)).unwrap()
}

/// A fragment in which the lines that are only shown are set, too: they are to be as right as the others.
fn with_shown(fragment: &str) -> String {
    let is_name = |name: &str| {
        name.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
    };
    let is_setting = |line: &str| line.split_once(" = ").is_some_and(|(name, _)| is_name(name));
    let lines = fragment.lines().map(|line| {
        let shown = line.strip_prefix("# ").filter(|line| is_setting(line));
        format!("{}\n", shown.unwrap_or(line))
    });
    lines.collect()
}

/// Fragments for the disk and for the solid-state drive, whole and from a partial profile.
fn fragments(product: Product, version: Version) -> Vec<String> {
    let drives = [made_up::DISK, made_up::NVME];
    let profiles = drives.iter().flat_map(|drive| [drive.profile(), drive.read_side()]);
    profiles.map(|profile| fragment(&advice(&profile, product, version))).collect()
}
