//! *How much does the write cache absorb, how fast, and how long does it take to drain?*
//!
//! Random writes, one at a time, on a rested device. Their speed over the bytes written falls
//! permanently when the cache is full: a memory buffer, a region of faster cells, or spare blocks.
//! Then the device idles for longer and longer times. After each, a trial checks if it absorbs half
//! as much at the initial speed. Models are also measured with their cache off (FlashyDB, C20). A
//! real drive's settings aren't changed.
//!
//! The experiment writes at random over the whole area.

mod absorb;
mod settings;

use nandle_io::Nanos;
use nandle_profile::experiments::WriteCacheFindings;
use nandle_profile::{Conducted, Experiments, Interval};
use nandle_units::format_duration;

use self::absorb::CacheFiller;
use super::series::Pool;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct WriteCacheSearch;

/// Most bytes written.
const WRITE_BYTES_MAX: u64 = 32 << 30;
/// Bytes of one write.
const BLOCK_BYTES: u64 = 32 << 10;
/// Rest before the fill.
const REST: Nanos = Nanos::from_secs(2);
/// Idle times to try, each four times the previous one.
const IDLE_MIN: Nanos = Nanos::from_millis(20);
const IDLE_MAX: Nanos = Nanos::from_secs(21);
const IDLE_GROWTH: u64 = 4;
/// Fraction (one in `TRIAL_PART`) of the absorbed bytes that a trial after a rest writes. It is
/// small enough to keep a full device full.
const TRIAL_PART: u64 = 2;
/// Fraction (one in `REFILL_PART`) of the absorbed bytes written before a flush of the full cache
/// is timed.
const REFILL_PART: u64 = 8;
/// Share of the initial speed at which the cache counts as drained.
const DRAINED_SHARE: f64 = 0.9;

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
        let mut filler = CacheFiller::new(lab, block_bytes)?;
        let part = Nanos(lab.time_left().0 / 3);
        let levels = filler.fill(lab, &mut pool, part)?;
        findings.sustained_bytes_per_s = levels.last;
        findings.absorbing_bytes_per_s = levels.first;
        findings.absorbed_bytes = levels.absorbed_bytes;
        if let (Some(absorbed), Some(speed)) = (levels.absorbed_bytes, levels.first) {
            findings.drain_ns = drain(lab, &mut pool, &mut filler, absorbed.value, speed.value)?;
        } else {
            lab.remark("Writes were as fast at the end as at the start: no cache filled up.");
        }
        filler.write(
            lab,
            &mut pool,
            levels.absorbed_bytes.map_or(block_bytes, |absorbed| absorbed.value / REFILL_PART),
        )?;
        findings.flush_of_full_cache_ns = Some(lab.flush()?.0);
        findings.settings = settings::measure(lab)?;
        Ok(())
    }
}

/// Shortest idle time after which the device absorbs as before.
fn drain(
    lab: &mut Lab<'_>,
    pool: &mut Pool,
    filler: &mut CacheFiller,
    absorbed_bytes: u64,
    bytes_per_s: f64,
) -> Result<Option<Interval<u64>>, LoadError> {
    let mut idle = IDLE_MIN;
    let mut too_short = Nanos::ZERO;
    while idle <= IDLE_MAX {
        lab.report(&format!("trial after a rest of {}", format_duration(idle)));
        if lab.time_left() < idle + idle {
            lab.remark("Time ended before the cache had drained; its drain time is unknown.");
            return Ok(None);
        }
        lab.pause(idle)?;
        let again = filler.write(lab, pool, absorbed_bytes / TRIAL_PART)?;
        if again.is_some_and(|again| again >= bytes_per_s * DRAINED_SHARE) {
            return Ok(Some(Interval { value: idle.0, low: too_short.0, high: idle.0 }));
        }
        too_short = idle;
        idle = Nanos(idle.0 * IDLE_GROWTH);
    }
    let longest = format_duration(IDLE_MAX);
    lab.remark(format!(
        "After up to {longest} of rest the cache had not drained: it may drain only during writes."
    ));
    Ok(None)
}
