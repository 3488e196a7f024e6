//! The state in which a modelled drive is watched: that of a drive that has been written to for long.

use nandle_io::{DriveCounters, Nanos};
use nandle_profile::OperationKind;

use super::super::Lab;
use super::super::rounds::{Seeds, area_from};
use crate::load::{ClosedLoop, Counting, LoadError, Refill, Stop, Work};
use crate::pattern::Random;

/// Blocks in which it is written to: small beside any superblock, so that what they leave behind is as scattered as what
/// single pages leave, at a part of the requests.
const BLOCK_BYTES: u64 = 64 << 10;
const QUEUE_DEPTH: u32 = 32;
/// The drive's counters are looked at after each such part of the area …
const STRETCH_PART: u64 = 16;
/// … and it is over after so many at the latest.
const STRETCHES_MAX: u64 = 24;
/// A drive that goes on as it is erases about as much as it writes.
const ERASED_LEAST: f64 = 0.9;
/// What it writes for each byte of the host changes no more than this from one part to the next.
const LIKE_BEFORE: f64 = 0.1;
/// Long enough for the largest buffer, and too short for what drives do when they are idle.
const REST: Nanos = Nanos::from_millis(50);

/// Whether the device is a modelled drive of flash: those count what they do.
pub(super) fn cleans(lab: &mut Lab<'_>) -> bool {
    lab.circumstances.is_modelled && lab.counters().is_some()
}

/// Writes to a modelled drive at random until it cleans as it will from then on. A disk, which counts nothing, and a real
/// drive are left as they are.
///
/// # Errors
/// As for [`ClosedLoop::run`].
pub(super) fn age(lab: &mut Lab<'_>, seeds: &mut Seeds) -> Result<(), LoadError> {
    if !cleans(lab) {
        return Ok(());
    }
    lab.tell("writing at random until the drive cleans");
    lab.untimed(|lab| {
        let mut before = None;
        for _ in 0..STRETCHES_MAX {
            let work = stretch(lab, seeds.next())?;
            let after = work.and_then(|work| work.write_amplification());
            let is_like_before = before
                .zip(after)
                .is_some_and(|(before, after): (f64, f64)| (after / before - 1.0).abs() <= LIKE_BEFORE);
            if is_like_before && work.is_some_and(is_steady) {
                return Ok(());
            }
            before = after;
        }
        lab.remark("The modelled drive was not in a steady state yet when the reads were watched.");
        Ok(())
    })
}

/// Leaves a modelled drive alone until what a slice has left in its buffer is written: virtual time costs no user any.
///
/// # Errors
/// The user ended it.
pub(super) fn rest(lab: &mut Lab<'_>) -> Result<(), LoadError> {
    if lab.circumstances.is_modelled { lab.untimed(|lab| lab.pause(REST)) } else { Ok(()) }
}

fn is_steady(work: DriveCounters) -> bool {
    work.erased_bytes as f64 >= ERASED_LEAST * work.flash_written_bytes as f64
}

/// What the drive did while a part of the area was written to; `None` where it doesn't tell.
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
