//! *How fast are sustained random writes?*
//!
//! The area is written once sequentially, then at random in rounds, until the last five rounds
//! satisfy the criterion of the SNIA Solid State Storage Performance Test Specification (range at
//! most 20 % and slope at most 10 % of their mean). Rounds are shorter than the specification's
//! minute. A fresh drive is also steady until its spare blocks are used up. So the criterion counts
//! only after random writes of a third of the device, or, in a file, of the device's capacity. It
//! counts sooner only if garbage collection has been constant since the first rounds. The
//! experiment ends after 25 rounds, or later if that much takes longer to write. The shape of
//! lasting speed changes indicates their cause.
//!
//! The experiment writes as much as it may. Nothing wears a drive more.

mod criterion;
mod departures;

use nandle_io::{DriveCounters, Nanos};
use nandle_profile::experiments::{SteadyRound, SteadyState, WriteAmplification, WriteAmplificationSource};
use nandle_profile::{
    CLEANING_FACTOR_MIN, Conducted, Derived, Experiments, Interval, OperationKind, SecondSample,
    SteadyStateFigures,
};
use nandle_units::format_bytes;

use self::criterion::{ROUNDS_MAX, ROUNDS_MAX_IN_ALL, WINDOW, window};
use super::statistics::percent;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{ClosedLoop, Counting, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::{Area, Pattern, Random, Sequential};

/// See the [module](self).
pub(super) struct SteadyStateRounds;

/// Most bytes written.
const WRITE_BYTES_MAX: u64 = 64 << 30;
/// Queue depth of the specification for random writes.
const QUEUE_DEPTH: u32 = 32;
/// Block sizes in order of preference, starting with the specification's. The first one with few
/// enough writes in the available time is used …
const BLOCKS: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];
/// … to limit the host's processor time.
const REQUESTS_MAX: f64 = 3e6;
/// Time to estimate that number.
const LOOK: Nanos = Nanos::from_millis(50);
/// Fraction (one in `FILL_PART`) of time and bytes for the sequential fill.
const FILL_PART: u64 = 4;
/// Bytes of one write of the fill.
const FILL_BLOCK_BYTES: u64 = 256 << 10;
const SECOND: Nanos = Nanos::from_secs(1);
/// Number of one-second rounds below which rounds are shorter, down to `ROUND_MIN`.
const FEW_ROUNDS: u64 = 2 * WINDOW as u64;
const ROUND_MIN: Nanos = Nanos::from_millis(100);

impl Experiment for SteadyStateRounds {
    type Findings = SteadyState;

    fn name(&self) -> &'static str {
        "steady-state"
    }

    fn question(&self) -> &'static str {
        "How fast are sustained random writes?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Ok(Cost {
            time_least: Nanos::from_secs(30),
            time_wanted: Nanos::from_secs(150),
            write_bytes_max: WRITE_BYTES_MAX,
        })
    }

    fn gains_by_more(&self) -> bool {
        true
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SteadyState>> {
        &mut experiments.steady_state
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut SteadyState) -> Result<(), LoadError> {
        findings.area_bytes = lab.circumstances.area_bytes;
        fill(lab, findings)?;
        let (block_bytes, bytes_per_s) = block_bytes(lab)?;
        findings.block_bytes = block_bytes;
        findings.queue_depth = QUEUE_DEPTH.min(lab.circumstances.slots);
        let outcome = rounds(lab, findings, bytes_per_s);
        findings.departures.extend(departures::of_random_writing(&findings.seconds));
        outcome?;
        judge(lab, findings);
        Ok(())
    }

    fn derive(&self, findings: &SteadyState, derived: &mut Derived) {
        derived.steady_state = findings.steady_bytes_per_s.map(|steady| SteadyStateFigures {
            block_bytes: findings.block_bytes,
            random_write_bytes_per_s: steady,
            of_fresh: findings.first_bytes_per_s.map(|first| steady.value / first),
            reached: findings.reached,
            write_amplification: findings.write_amplification.clone(),
        });
    }
}

fn area(lab: &Lab<'_>, block_bytes: u64) -> Result<Area, LoadError> {
    Area::new(0, lab.circumstances.area_bytes, block_bytes)
        .ok_or_else(|| LoadError::Block { block_bytes, reason: "the area is smaller than that".into() })
}

fn write(
    lab: &mut Lab<'_>,
    pattern: Pattern,
    block_bytes: u64,
    stop: Stop,
) -> Result<Measurement, LoadError> {
    let load = ClosedLoop {
        queue_depth: QUEUE_DEPTH.min(lab.circumstances.slots),
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop,
    };
    let (operation, seed) = (OperationKind::Write, lab.seed);
    lab.run(load, Work { pattern, block_bytes, operation, contents: None, seed })
}

/// Writes the area once sequentially, within a quarter of time and bytes.
fn fill(lab: &mut Lab<'_>, findings: &mut SteadyState) -> Result<(), LoadError> {
    lab.report("writing the area sequentially");
    let area = area(lab, FILL_BLOCK_BYTES.min(lab.circumstances.area_bytes))?;
    let stop = Stop {
        bytes: Some((lab.write_left_bytes() / FILL_PART).min(area.blocks * area.block_bytes)),
        time: Some(Nanos(lab.time_left().0 / FILL_PART)),
    };
    let measurement = write(lab, Box::new(Sequential::from_start(area)), area.block_bytes, stop)?;
    lab.flush()?;
    findings.sequential_fill_bytes = measurement.bytes;
    findings.departures = departures::of_sequential_writing(whole_seconds(&measurement));
    Ok(())
}

/// Smallest block with few enough writes, and its initial speed.
fn block_bytes(lab: &mut Lab<'_>) -> Result<(u64, f64), LoadError> {
    let unit = lab.circumstances.shape.logical_block_bytes;
    let seconds = lab.time_left().as_secs_f64();
    let mut chosen = (FILL_BLOCK_BYTES, 0.0);
    for block_bytes in BLOCKS.map(|block| block.next_multiple_of(unit)) {
        let pattern = Box::new(Random::new(area(lab, block_bytes)?, lab.seed ^ block_bytes));
        let look = write(lab, pattern, block_bytes, Stop::after(LOOK))?;
        chosen = (block_bytes, look.bandwidth_bytes_per_s());
        if look.iops() * seconds <= REQUESTS_MAX {
            break;
        }
    }
    Ok(chosen)
}

fn rounds(lab: &mut Lab<'_>, findings: &mut SteadyState, bytes_per_s: f64) -> Result<(), LoadError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let writing = Nanos((lab.write_left_bytes() as f64 / bytes_per_s * 1e9) as u64);
    let time = lab.time_left().min(writing);
    let round_time = round_time(time);
    let mut readings = vec![lab.counters()];
    while lab.time_left() >= round_time && !is_done(findings, lab.circumstances.device_bytes) {
        lab.report(&format!("round {}", findings.rounds.len() + 1));
        let pattern = Box::new(Random::new(
            area(lab, findings.block_bytes)?,
            lab.seed.wrapping_add(findings.rounds.len() as u64 + 1),
        ));
        let began_ns = lab.elapsed().0;
        let round = write(lab, pattern, findings.block_bytes, Stop::after(round_time))?;
        if round.requests == 0 {
            break;
        }
        readings.push(lab.counters());
        findings.write_amplification = amplification(&readings);
        note(findings, began_ns, &round);
        let is_past = cleans_evenly(&readings) || is_written(findings, lab.circumstances.device_bytes);
        findings.reached = is_past && findings.ends_even();
    }
    Ok(())
}

/// Returns true if more rounds wouldn't change the result.
fn is_done(findings: &SteadyState, device_bytes: Option<u64>) -> bool {
    let rounds = findings.rounds.len();
    findings.reached
        || rounds >= ROUNDS_MAX_IN_ALL
        || rounds >= ROUNDS_MAX && is_written(findings, device_bytes)
}

/// Duration of a round. It has whole seconds, so that the seconds of all rounds form one series. If
/// there is only time for a few rounds, they are shorter, which still shows a fall in speed.
fn round_time(time: Nanos) -> Nanos {
    let even = Nanos(time.0 / ROUNDS_MAX as u64);
    if even < SECOND && time < Nanos(SECOND.0 * FEW_ROUNDS) {
        return even.max(ROUND_MIN);
    }
    Nanos(even.0 / SECOND.0 * SECOND.0).max(SECOND)
}

fn note(findings: &mut SteadyState, began_ns: u64, round: &Measurement) {
    let first = whole_seconds(round).first().map(|second| second.bytes as f64);
    findings.first_bytes_per_s = findings.first_bytes_per_s.or(first);
    findings.rounds.push(SteadyRound {
        began_ns,
        elapsed_ns: round.elapsed.0,
        bytes: round.bytes,
        bandwidth_bytes_per_s: round.bandwidth_bytes_per_s(),
        iops: round.iops(),
        latency_ns_max: round.latency_ns.max(),
    });
    findings.seconds.extend(whole_seconds(round));
    if let Some(window) = window(&findings.rounds) {
        findings.steady_bytes_per_s =
            Some(Interval { value: window.mean, low: window.low, high: window.high });
        findings.window_range = Some(window.range());
        findings.window_slope = Some(window.slope);
    }
}

/// Excludes the last, partial second, in which the final requests may complete.
fn whole_seconds(measurement: &Measurement) -> &[SecondSample] {
    let whole = usize::try_from(measurement.elapsed.0 / SECOND.0).unwrap_or(usize::MAX);
    measurement.seconds.get(..whole).unwrap_or(&measurement.seconds)
}

/// Returns true if enough was written at random to use up the spare blocks of a drive of this
/// capacity.
fn is_written(findings: &SteadyState, device_bytes: Option<u64>) -> bool {
    findings.random_bytes() >= findings.random_bytes_needed(device_bytes)
}

/// Returns true if the drive collects garbage, at the same rate in the first and the last window of
/// rounds. With a page map, garbage collection grows as more of the drive is written at random. A
/// hybrid map moves whole blocks from the first write on.
fn cleans_evenly(readings: &[Option<Reading>]) -> bool {
    const DIFFERENCE_MAX: f64 = 0.1;
    let (first, last) = (readings.get(..=WINDOW).and_then(amplification), amplification(readings));
    first.zip(last).is_some_and(|(first, last)| {
        let change = last.factor / first.factor - 1.0;
        readings.len() > 2 * WINDOW && last.factor > CLEANING_FACTOR_MIN && change.abs() <= DIFFERENCE_MAX
    })
}

/// Counters of a drive with their source.
type Reading = (DriveCounters, WriteAmplificationSource);

/// Write amplification over the last five rounds, or over all if there are fewer.
fn amplification(readings: &[Option<Reading>]) -> Option<WriteAmplification> {
    let (last, source) = (*readings.last()?)?;
    let (first, _) = (*readings.get(readings.len().saturating_sub(WINDOW + 1))?)?;
    let work = last.since(first);
    Some(WriteAmplification {
        factor: work.write_amplification()?,
        source,
        host_bytes: work.host_written_bytes,
        flash_bytes: work.flash_written_bytes,
    })
}

/// Adds remarks if the steady state wasn't shown.
fn judge(lab: &mut Lab<'_>, findings: &SteadyState) {
    let device_bytes = lab.circumstances.device_bytes;
    let written = findings.random_bytes();
    let share = percent(written as f64 / device_bytes.unwrap_or(findings.area_bytes).max(1) as f64);
    let rounds = findings.rounds.len();
    if findings.reached {
        return;
    }
    if findings.ends_even() {
        lab.remark(format!(
            "The rounds are even, but this may not be the steady state: random writes of {} are {share} of the \
             device. A flash drive with spare blocks left may still become slower, which {} would show.",
            format_bytes(written),
            format_bytes(findings.random_bytes_needed(device_bytes))
        ));
    } else if rounds >= ROUNDS_MAX {
        lab.remark(format!(
            "It was not steady within {rounds} rounds (random writes of {share} of the device)."
        ));
    } else {
        lab.cut_short(format!(
            "time or --write-limit ended before the steady state was reached: {rounds} rounds, random writes of \
             {share} of the device"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_whole_seconds_where_there_is_time_for_some() {
        assert_eq!(round_time(Nanos::from_secs(80)), Nanos::from_secs(3));
        assert_eq!(round_time(Nanos::from_secs(20)), SECOND);
        assert_eq!(round_time(Nanos::from_secs(5)), Nanos::from_millis(200));
        assert_eq!(round_time(Nanos::from_millis(500)), ROUND_MIN);
    }
}
