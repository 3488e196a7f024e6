//! Synthetic profiles for tests and for a look at the page. Nothing here is a measurement:
//! bandwidths follow the formula of [`FitSummary`] with invented parameters, plus noise from a
//! fixed seed.
#![allow(dead_code, unused_imports, reason = "each of the targets that share this module uses a part of it")]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's support fails the test by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unnecessary_wraps,
    reason = "the figures are made up, and have the shapes of measured ones"
)]

mod drive;
mod experiments;
mod hostile;
mod predictions;
mod replay;
mod workloads;

pub(crate) use hostile::{hostile, partial};
pub(crate) use predictions::prediction_file;
pub(crate) use replay::{policies, replay_file};
pub(crate) use workloads::{place_file, workload_file};

use drive::Drive;
use nandle_profile::{DeviceProfile, MeasuredCell};

/// Profile that has only these cells of random reads: block, depth, bandwidth.
pub(crate) fn with_random_reads(cells: &[(u64, u32, f64)]) -> DeviceProfile {
    let cell = |(block, depth, bandwidth): &(u64, u32, f64)| cell("random", *block, *depth, *bandwidth);
    DeviceProfile { cells: cells.iter().map(cell).collect(), ..partial() }
}

/// Read cell with a group of 1.
pub(crate) fn cell(pattern: &str, block_bytes: u64, depth: u32, bandwidth: f64) -> MeasuredCell {
    drive::cell(pattern, block_bytes, 1, depth, bandwidth)
}

/// Complete profile of a fast NVMe drive.
pub(crate) fn fast() -> DeviceProfile {
    Drive {
        model: "MADE-UP NVMe 3200 (test fixture)",
        request_ns: 78_000.0,
        ns_per_byte: 0.55,
        iops_max: 610_000.0,
        bandwidth_max: 3.25e9,
        grouping: 1.0,
        seed: 1,
    }
    .profile()
}

/// Network volume with a long latency and low limits.
pub(crate) fn volume() -> DeviceProfile {
    Drive {
        model: "MADE-UP network volume (test fixture)",
        request_ns: 420_000.0,
        ns_per_byte: 1.9,
        iops_max: 64_000.0,
        bandwidth_max: 1.05e9,
        grouping: 0.05,
        seed: 2,
    }
    .profile()
}

/// SATA drive.
pub(crate) fn sata() -> DeviceProfile {
    let mut profile = Drive {
        model: "MADE-UP SATA 520 (test fixture)",
        request_ns: 96_000.0,
        ns_per_byte: 2.2,
        iops_max: 92_000.0,
        bandwidth_max: 5.3e8,
        grouping: 1.2,
        seed: 3,
    }
    .profile();
    profile.backend.io = "threads".into();
    profile
}

/// Drive with findings of every experiment.
pub(crate) fn written() -> DeviceProfile {
    let mut profile = sata();
    profile.experiments = experiments::all();
    profile.derived = experiments::derived(profile.derived);
    profile
}
