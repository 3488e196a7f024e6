//! Made-up drives with everything in them that a search can stumble over.

use std::collections::HashSet;

use nandle_io::{Nanos, Operation};

use crate::virtual_world::{Drive, Timing, Weather};

const NEVER: u64 = u64::MAX;

/// A SATA drive as in the DIAT paper: 32 commands, large requests split, groups slow in short queues.
pub(super) fn sata() -> Drive {
    Drive {
        commands: 10,
        request_us: 110.0,
        ns_per_byte: 0.002,
        jitter: 0.1,
        iops_max: 40_000.0,
        bandwidth_max: 265e6,
        split_bytes: 2 << 20,
        group_factor: 1.6,
        sequential_factor: 0.6,
        crowded_bytes: NEVER,
        quirks: 0.0,
        weather: Weather::default(),
    }
}

/// Bound by latency up to a deep queue, then by the rate of requests.
pub(super) fn cloud() -> Drive {
    Drive {
        commands: 96,
        request_us: 900.0,
        ns_per_byte: 0.004,
        jitter: 0.2,
        iops_max: 16_000.0,
        bandwidth_max: 500e6,
        split_bytes: NEVER,
        group_factor: 1.0,
        sequential_factor: 1.0,
        crowded_bytes: NEVER,
        quirks: 0.0,
        weather: Weather::default(),
    }
}

/// A fast drive with many chips.
pub(super) fn fast() -> Drive {
    Drive {
        commands: 24,
        request_us: 70.0,
        ns_per_byte: 0.001,
        jitter: 0.1,
        iops_max: 150_000.0,
        bandwidth_max: 2.5e9,
        split_bytes: NEVER,
        group_factor: 1.0,
        sequential_factor: 0.5,
        crowded_bytes: NEVER,
        quirks: 0.0,
        weather: Weather::default(),
    }
}

/// A magnetic disk: one arm.
pub(super) fn disk() -> Drive {
    Drive {
        commands: 1,
        request_us: 8_000.0,
        ns_per_byte: 0.0,
        jitter: 0.5,
        iops_max: 1e9,
        bandwidth_max: 200e6,
        split_bytes: NEVER,
        group_factor: 0.3,
        sequential_factor: 0.02,
        crowded_bytes: NEVER,
        quirks: 0.0,
        weather: Weather::default(),
    }
}

/// Several slow disks behind one controller: bandwidth grows with the depth, and each depth is slow.
pub(super) fn disk_array() -> Drive {
    Drive { commands: 12, request_us: 30_000.0, bandwidth_max: 900e6, ..disk() }
}

/// A disk of a virtual machine: what the host does with requests is not smooth.
pub(super) fn virtual_disk() -> Drive {
    Drive {
        commands: 48,
        request_us: 110.0,
        ns_per_byte: 0.4,
        jitter: 0.3,
        iops_max: 70_000.0,
        bandwidth_max: 2.3e9,
        crowded_bytes: 2 << 20,
        quirks: 0.05,
        sequential_factor: 0.7,
        ..cloud()
    }
}

/// A drive behind something that has each 128 KiB brought from far away when they are read for the first time.
pub(super) fn slow_at_first(drive: &Drive) -> impl Timing + use<> {
    SlowAtFirst { drive: drive.timing(), touched: HashSet::new() }
}

struct SlowAtFirst<T> {
    drive: T,
    touched: HashSet<u64>,
}

impl<T: Timing> Timing for SlowAtFirst<T> {
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos {
        let (start, length) = (operation.offset_bytes(), operation.length_bytes());
        let parts = start >> 17..=(start + length - 1) >> 17;
        let new = parts.filter(|part| self.touched.insert(*part)).count();
        let far = if new > 0 { Nanos::from_millis(5) } else { Nanos::ZERO };
        self.drive.done_at(now, operation, outstanding) + far
    }
}
