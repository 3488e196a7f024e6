//! Initial state of the device, and the pause between rows.

use nandle_io::Nanos;
use nandle_profile::OperationKind;
use nandle_profile::experiments::DeviceState;

use crate::experiments::Lab;
use crate::experiments::series::{Length, Pool, Walk, series};
use crate::experiments::statistics::percent;
use crate::load::{ClosedLoop, Counting, LoadError, Refill, Stop, Work};
use crate::pattern::{Area, Random, Sequential};

/// Fractions (one in …) of time and bytes for writing the area sequentially.
const TIME_PART: u64 = 6;
const WRITE_PART: u64 = 4;
/// Queue depth of these writes.
const QUEUE_DEPTH: u32 = 8;
/// Bounds of the pause.
const PAUSE_MIN: Nanos = Nanos::from_millis(5);
const PAUSE_MAX: Nanos = Nanos::from_millis(100);
/// Random writes before their effect on reads is measured.
const DISTURBING_WRITES: u64 = 16;
/// Reads per median.
const READS: u64 = 15;
/// Smallest slowdown of reads that counts as an effect of the writes.
const DISTURBED_RATIO: f64 = 1.2;

/// Writes the area once sequentially. Otherwise every later pattern would have to clean up after
/// random writes of earlier experiments or other programs.
///
/// # Errors
/// See [`ClosedLoop::run`].
pub(super) fn enforce(lab: &mut Lab<'_>, block_bytes: u64) -> Result<DeviceState, LoadError> {
    lab.report("writing the area sequentially, for a defined state");
    let area_bytes = lab.circumstances.area_bytes;
    let load = ClosedLoop {
        queue_depth: QUEUE_DEPTH.min(lab.circumstances.slots),
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop {
            bytes: Some(area_bytes.min(lab.write_left_bytes() / WRITE_PART)),
            time: Some(Nanos(lab.time_left().0 / TIME_PART)),
        },
    };
    let area = whole(lab, block_bytes)?;
    let (seed, operation) = (lab.seed, OperationKind::Write);
    let pattern = Box::new(Sequential::from_start(area));
    let work = Work { pattern, block_bytes, operation, contents: None, seed };
    let measurement = lab.run(load, work)?;
    lab.flush()?;
    let share_of_area = measurement.bytes as f64 / area_bytes as f64;
    if share_of_area < 0.999 {
        lab.remark(format!(
            "Before the first pattern, {} of the area were written sequentially, within a sixth of the time and \
             a quarter of the write limit. The rest is in its earlier state.",
            percent(share_of_area)
        ));
    }
    Ok(DeviceState { sequential_bytes_written: measurement.bytes, share_of_area })
}

/// Measures how long random writes slow down later reads, with a flush in between (uFLIP §4.3).
///
/// # Errors
/// See [`series`].
pub(super) fn pause_between(
    lab: &mut Lab<'_>,
    pool: &mut Pool,
    block_bytes: u64,
) -> Result<Nanos, LoadError> {
    lab.report("effect of random writes on reads");
    lab.pause(PAUSE_MAX + PAUSE_MAX)?;
    let area = whole(lab, block_bytes)?;
    let undisturbed = median(reads(lab, pool, area)?);
    let mut random = walk(Box::new(Random::new(area, lab.seed ^ 1)), OperationKind::Write, block_bytes);
    series(lab, pool, &mut random, just(DISTURBING_WRITES))?;
    lab.flush()?;
    let began = lab.now();
    loop {
        let disturbed_until = lab.now().since(began);
        let disturbed = median(reads(lab, pool, area)?);
        if disturbed <= undisturbed * DISTURBED_RATIO || disturbed_until >= PAUSE_MAX {
            return Ok(disturbed_until.clamp(PAUSE_MIN, PAUSE_MAX));
        }
        lab.pause(PAUSE_MIN)?;
    }
}

fn reads(lab: &mut Lab<'_>, pool: &mut Pool, area: Area) -> Result<Vec<u64>, LoadError> {
    let pattern = Box::new(Sequential::new(area, lab.seed ^ 2));
    series(lab, pool, &mut walk(pattern, OperationKind::Read, area.block_bytes), just(READS))
}

fn just(requests: u64) -> Length {
    Length { time: Nanos::ZERO, requests_least: requests, requests_most: requests }
}

fn walk(pattern: crate::pattern::Pattern, operation: OperationKind, block_bytes: u64) -> Walk {
    Walk { pattern, operation, block_bytes, pause: Nanos::ZERO, burst_requests: 0 }
}

fn whole(lab: &Lab<'_>, block_bytes: u64) -> Result<Area, LoadError> {
    Area::new(0, lab.circumstances.area_bytes, block_bytes)
        .ok_or_else(|| LoadError::Block { block_bytes, reason: "the area is smaller than that".into() })
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).map_or(0.0, |value| *value as f64)
}
