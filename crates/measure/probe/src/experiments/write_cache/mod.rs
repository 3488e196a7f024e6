//! *How much does the write cache absorb, how fast, and how long does it take to drain?*
//!
//! Random writes, one after the other, on a device that has rested: their speed over the bytes written shows where it
//! falls for good, whatever it is that is full then (a buffer in memory, a region of cells that are written more
//! quickly, spare blocks). Then the device is left alone for longer and longer, and asked each time whether it absorbs half
//! as much as before as quickly. Models are also measured with their cache off (FlashyDB, C20); a real drive's settings
//! are left alone.
//!
//! It writes at random over the whole area.

mod absorb;
mod settings;

use nandle_io::Nanos;
use nandle_profile::experiments::WriteCacheFindings;
use nandle_profile::{Conducted, Experiments, Interval};
use nandle_units::format_duration;

use self::absorb::Absorbing;
use super::series::Pool;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct WriteCacheSearch;

/// What it would like to write.
const WRITE_BYTES_MAX: u64 = 32 << 30;
/// One write.
const BLOCK_BYTES: u64 = 32 << 10;
/// How long a device rests before it is filled.
const REST: Nanos = Nanos::from_secs(2);
/// Idle times that are tried, each four times the one before.
const IDLE_MIN: Nanos = Nanos::from_millis(20);
const IDLE_MAX: Nanos = Nanos::from_secs(21);
const IDLE_GROWTH: u64 = 4;
/// After a rest this part of what it absorbed at first shows whether it absorbs again; a device that is still full
/// stays so by it.
const TRIAL_PART: u64 = 2;
/// Written before a flush of a full cache is timed.
const REFILL_PART: u64 = 8;
/// Of the speed at which it absorbs, so much is as before.
const AS_BEFORE: f64 = 0.9;

impl Experiment for WriteCacheSearch {
    type Findings = WriteCacheFindings;

    fn name(&self) -> &'static str {
        "write-cache"
    }

    fn question(&self) -> &'static str {
        "How much does the write cache absorb, how fast, and how long does it take to drain?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Ok(Cost {
            time_least: Nanos::from_secs(15),
            time_wanted: Nanos::from_secs(60),
            write_bytes_max: WRITE_BYTES_MAX,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<WriteCacheFindings>> {
        &mut experiments.write_cache
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut WriteCacheFindings) -> Result<(), LoadError> {
        let block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        (findings.block_bytes, findings.queue_depth) = (block_bytes, 1);
        let mut pool = Pool::new(lab, block_bytes)?;
        lab.pause(REST)?;
        let mut absorbing = Absorbing::new(lab, block_bytes)?;
        let part = Nanos(lab.time_left().0 / 3);
        let levels = absorbing.fill(lab, &mut pool, part)?;
        findings.sustained_bytes_per_s = levels.last;
        findings.absorbing_bytes_per_s = levels.first;
        findings.absorbed_bytes = levels.absorbed_bytes;
        if let (Some(absorbed), Some(speed)) = (levels.absorbed_bytes, levels.first) {
            findings.drain_ns = drain(lab, &mut pool, &mut absorbing, absorbed.value, speed.value)?;
        } else {
            lab.remark("Writing was as fast at the end as at the beginning: no cache showed that fills up.");
        }
        absorbing.write(
            lab,
            &mut pool,
            levels.absorbed_bytes.map_or(block_bytes, |absorbed| absorbed.value / REFILL_PART),
        )?;
        findings.flush_of_full_cache_ns = Some(lab.flush()?.0);
        findings.settings = settings::measure(lab)?;
        Ok(())
    }
}

/// The least idle time after which the device absorbs as before.
fn drain(
    lab: &mut Lab<'_>,
    pool: &mut Pool,
    absorbing: &mut Absorbing,
    absorbed_bytes: u64,
    bytes_per_s: f64,
) -> Result<Option<Interval<u64>>, LoadError> {
    let mut idle = IDLE_MIN;
    let mut too_short = Nanos::ZERO;
    while idle <= IDLE_MAX {
        lab.tell(&format!("whether it has drained after {}", format_duration(idle)));
        if lab.time_left() < idle + idle {
            lab.remark("Time ended before the cache had drained; how long it takes is not known.");
            return Ok(None);
        }
        lab.pause(idle)?;
        let again = absorbing.write(lab, pool, absorbed_bytes / TRIAL_PART)?;
        if again.is_some_and(|again| again >= bytes_per_s * AS_BEFORE) {
            return Ok(Some(Interval { value: idle.0, low: too_short.0, high: idle.0 }));
        }
        too_short = idle;
        idle = Nanos(idle.0 * IDLE_GROWTH);
    }
    let longest = format_duration(IDLE_MAX);
    lab.remark(format!(
        "Up to {longest} of rest it didn't absorb as before: it cleans up only when it is written to."
    ));
    Ok(None)
}
