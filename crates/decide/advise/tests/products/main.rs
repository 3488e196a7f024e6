//! Tests of the advice and its fragments. Servers and libraries installed on this machine load the
//! fragments; for the others the documented format is checked.
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

/// Fragment in which the lines that are only shown are set, too, because they must be valid as
/// well.
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

/// Fragments for the disk and the solid-state drive, from complete and partial profiles.
fn fragments(product: Product, version: Version) -> Vec<String> {
    let drives = [made_up::DISK, made_up::NVME];
    let profiles = drives.iter().flat_map(|drive| [drive.profile(), drive.read_side()]);
    profiles.map(|profile| fragment(&advice(&profile, product, version))).collect()
}
