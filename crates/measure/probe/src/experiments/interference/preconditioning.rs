//! Preconditioning of modelled drives to the state of a drive after long writing.

use nandle_io::{DriveCounters, Nanos};
use nandle_profile::OperationKind;

use super::super::Lab;
use super::super::rounds::{Seeds, area_from};
use crate::load::{ClosedLoop, Counting, LoadError, Refill, Stop, Work};
use crate::pattern::Random;

/// Block size of the writes. It is small compared with any superblock, so obsolete data is as
/// scattered as with single pages, with fewer requests.
const BLOCK_BYTES: u64 = 64 << 10;
const QUEUE_DEPTH: u32 = 32;
/// Fraction (one in `STRETCH_PART`) of the area written between two readings of the drive's
/// counters.
const STRETCH_PART: u64 = 16;
/// Most stretches.
const STRETCHES_MAX: u64 = 24;
/// In a steady state, a drive erases at least this share of the bytes that it writes to flash.
const ERASED_LEAST: f64 = 0.9;
/// Largest change of write amplification between two stretches in a steady state.
const CHANGE_MAX: f64 = 0.1;
/// Time to drain the largest buffer, but too short for idle-time garbage collection.
const REST: Nanos = Nanos::from_millis(50);

/// Returns true if the device is a modelled flash drive. Only these have counters.
pub(super) fn cleans(lab: &mut Lab<'_>) -> bool {
    lab.circumstances.is_modelled && lab.counters().is_some()
}

/// Writes to a modelled drive at random until garbage collection is in a steady state. Disks, which
/// have no counters, and real drives are left unchanged.
///
/// # Errors
/// See [`ClosedLoop::run`].
pub(super) fn precondition(lab: &mut Lab<'_>, seeds: &mut Seeds) -> Result<(), LoadError> {
    if !cleans(lab) {
        return Ok(());
    }
    lab.report("random writes until garbage collection is steady");
    lab.untimed(|lab| {
        let mut before = None;
        for _ in 0..STRETCHES_MAX {
            let work = stretch(lab, seeds.next())?;
            let after = work.and_then(|work| work.write_amplification());
            let is_unchanged = before
                .zip(after)
                .is_some_and(|(before, after): (f64, f64)| (after / before - 1.0).abs() <= CHANGE_MAX);
            if is_unchanged && work.is_some_and(is_steady) {
                return Ok(());
            }
            before = after;
        }
        lab.remark("The modelled drive was not in a steady state before the measurement.");
        Ok(())
    })
}

/// Leaves a modelled drive idle until the writes of the previous slice have drained from its
/// buffer. This takes only virtual time.
///
/// # Errors
/// The user interrupted it.
pub(super) fn rest(lab: &mut Lab<'_>) -> Result<(), LoadError> {
    if lab.circumstances.is_modelled { lab.untimed(|lab| lab.pause(REST)) } else { Ok(()) }
}

fn is_steady(work: DriveCounters) -> bool {
    work.erased_bytes as f64 >= ERASED_LEAST * work.flash_written_bytes as f64
}

/// Writes to a part of the area. Returns the change of the drive's counters, if it has any.
fn stretch(lab: &mut Lab<'_>, seed: u64) -> Result<Option<DriveCounters>, LoadError> {
    let block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
    let area = area_from(lab, 0, block_bytes)?;
    let load = ClosedLoop {
        queue_depth: QUEUE_DEPTH,
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop::after_bytes(lab.circumstances.area_bytes / STRETCH_PART),
    };
    let before = lab.counters();
    let pattern = Box::new(Random::new(area, seed));
    lab.run(load, Work { pattern, block_bytes, operation: OperationKind::Write, contents: None, seed })?;
    Ok(before.zip(lab.counters()).map(|((before, _), (after, _))| after.since(before)))
}
