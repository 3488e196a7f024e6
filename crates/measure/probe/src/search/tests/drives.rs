//! Modelled drives with all the features that can mislead a search.

use std::collections::HashSet;

use nandle_io::{Nanos, Operation};

use crate::virtual_world::{Drive, SpeedVariation, Timing};

const NEVER: u64 = u64::MAX;

/// A SATA drive as in the DIAT paper: 32 commands, split large requests, slow groups in short
/// queues.
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
        variation: SpeedVariation::default(),
    }
}

/// A cloud volume: limited by latency up to a deep queue, then by request rate.
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
        variation: SpeedVariation::default(),
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
        variation: SpeedVariation::default(),
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
        variation: SpeedVariation::default(),
    }
}

/// Several slow disks behind one controller: bandwidth grows with the depth, and every depth is
/// slow.
pub(super) fn disk_array() -> Drive {
    Drive { commands: 12, request_us: 30_000.0, bandwidth_max: 900e6, ..disk() }
}

/// Disk of a virtual machine, with irregular behaviour of the host.
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

/// A drive behind a tier that fetches each 128 KiB from far away on first read.
pub(super) fn slow_first_touch(drive: &Drive) -> impl Timing + use<> {
    SlowFirstTouch { drive: drive.timing(), touched: HashSet::new() }
}

struct SlowFirstTouch<T> {
    drive: T,
    touched: HashSet<u64>,
}

impl<T: Timing> Timing for SlowFirstTouch<T> {
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos {
        let (start, length) = (operation.offset_bytes(), operation.length_bytes());
        let parts = start >> 17..=(start + length - 1) >> 17;
        let new = parts.filter(|part| self.touched.insert(*part)).count();
        let far = if new > 0 { Nanos::from_millis(5) } else { Nanos::ZERO };
        self.drive.done_at(now, operation, outstanding) + far
    }
}
