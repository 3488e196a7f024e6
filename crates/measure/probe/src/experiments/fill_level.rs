//! *What does filling and fragmenting the device change?*
//!
//! `FlashyDB`'s test (C23). The device is filled sequentially to a level, the rest is discarded,
//! and four patterns are measured. Random writes follow as long as there is time. Then the patterns
//! are measured again: reads right after the random writes, sequential writes as a long run. The
//! levels are below and above 70 % full, and nearly full. Blocks have 8 KiB. Sequential patterns
//! use depth 1; random ones use depth 32, or what a slow device can serve in the time of a
//! measurement.
//!
//! The experiment discards the device's contents and overwrites the rest many times.
//! It gives the device's contents back and overwrites what is left, many times over.

use nandle_io::{Nanos, Operation};
use nandle_profile::experiments::{FillChange, FillLevel, FillLevels};
use nandle_profile::{Conducted, Experiments, OperationKind};

use super::depth::depth_within;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{ClosedLoop, Counting, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::{Area, Pattern, PatternSpec, Sequential};

/// See the [module](self).
pub(super) struct FillAndFragment;

/// Most bytes written.
const WRITE_BYTES_MAX: u64 = 64 << 30;
const BLOCK_BYTES: u64 = 8 << 10;
const RANDOM_QUEUE_DEPTH: u32 = 32;
/// Fill levels, as shares of the device.
const LEVELS: [f64; 3] = [0.5, 0.7, 0.95];
/// Fractions (one in …) of a level's time and bytes for the random writes, and for the sequential
/// writes after them.
const RANDOM_PART: u64 = 2;
const SEQUENTIAL_PART: u64 = 8;
/// Limits of a measurement in time and requests.
const CELL_TIME: Nanos = Nanos::from_millis(1000);
const CELL_REQUESTS: u64 = 20_000;
/// Bytes of one write that fills the device.
const FILL_BLOCK_BYTES: u64 = 256 << 10;
/// Most requests of the long runs. More give no further information.
const REQUESTS_MAX: u64 = 500_000;

impl Experiment for FillAndFragment {
    type Findings = FillLevels;

    fn name(&self) -> &'static str {
        "fill-level"
    }

    fn question(&self) -> &'static str {
        "What does filling and fragmenting the device change?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !circumstances.is_whole_device {
            return Err("fill levels can only be set if the whole device may be written".into());
        }
        if !circumstances.shape.discards {
            return Err("the device supports no discards, so its fill level can't be lowered".into());
        }
        Ok(Cost {
            time_least: Nanos::from_secs(45),
            time_wanted: Nanos::from_secs(120),
            write_bytes_max: WRITE_BYTES_MAX,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<FillLevels>> {
        &mut experiments.fill_level
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut FillLevels) -> Result<(), LoadError> {
        findings.block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        let depth_max = RANDOM_QUEUE_DEPTH.min(lab.circumstances.slots);
        findings.queue_depth =
            depth_within(lab, CELL_TIME, OperationKind::Write, findings.block_bytes, depth_max)?;
        for (index, fill_share) in LEVELS.into_iter().enumerate() {
            let left = (LEVELS.len() - index) as u64;
            let budget = LevelBudget {
                time: Nanos(lab.time_left().0 / left),
                write_bytes: lab.write_left_bytes() / left,
            };
            let filled = FilledDevice::new(lab, fill_share, findings.block_bytes, findings.queue_depth)?;
            findings.levels.push(filled.measure(lab, budget)?);
        }
        Ok(())
    }
}

/// Budget of one level.
#[derive(Clone, Copy)]
struct LevelBudget {
    time: Nanos,
    write_bytes: u64,
}

/// A device that is filled to a level.
struct FilledDevice {
    fill_share: f64,
    /// Depth of random requests.
    queue_depth: u32,
    area: Area,
}

impl FilledDevice {
    /// Fills the device to `fill_share`. A modelled device starts anew, written once from start to
    /// end.
    fn new(
        lab: &mut Lab<'_>,
        fill_share: f64,
        block_bytes: u64,
        queue_depth: u32,
    ) -> Result<Self, LoadError> {
        lab.report(&format!("filling to {:.0} %", fill_share * 100.0));
        let area_bytes = lab.circumstances.area_bytes;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the area")]
        let level = (area_bytes as f64 * fill_share) as u64 / FILL_BLOCK_BYTES * FILL_BLOCK_BYTES;
        let area = |block_bytes: u64| {
            Area::new(0, level, block_bytes).ok_or_else(|| LoadError::Block {
                block_bytes,
                reason: "the area is smaller than that".into(),
            })
        };
        let filled = Self { fill_share, queue_depth, area: area(block_bytes)? };
        if lab.circumstances.is_modelled {
            let open = lab.open;
            lab.reopen(open)?;
        } else {
            let whole = area(FILL_BLOCK_BYTES)?;
            let stop = Stop::after_bytes(level);
            let pattern = Box::new(Sequential::from_start(whole));
            run(lab, pattern, OperationKind::Write, FILL_BLOCK_BYTES, stop, RANDOM_QUEUE_DEPTH)?;
        }
        lab.once(Operation::Discard { offset_bytes: level, length_bytes: area_bytes - level })?;
        lab.flush()?;
        Ok(filled)
    }

    fn measure(&self, lab: &mut Lab<'_>, budget: LevelBudget) -> Result<FillLevel, LoadError> {
        let cell = Stop { bytes: Some(CELL_REQUESTS * self.area.block_bytes), time: Some(CELL_TIME) };
        let before = self.four(lab, cell)?;
        let random = PatternSpec::Random.start(self.area, 1, lab.seed);
        lab.report(&format!("random writing at {:.0} % full", self.fill_share * 100.0));
        let disturbing = self.part(budget, RANDOM_PART);
        let disturbed =
            run(lab, random, OperationKind::Write, self.area.block_bytes, disturbing, self.queue_depth)?;
        let after = self.four(lab, self.part(budget, SEQUENTIAL_PART))?;
        let change =
            |((pattern, operation), (before, after)): (Pair, (&Measurement, &Measurement))| FillChange {
                pattern: pattern.to_string(),
                operation,
                before_bytes_per_s: before.bandwidth_bytes_per_s(),
                after_bytes_per_s: after.bandwidth_bytes_per_s(),
            };
        Ok(FillLevel {
            fill_share: self.fill_share,
            random_bytes_written: disturbed.bytes,
            sequential_bytes_written: after.get(2).map_or(0, |sequential| sequential.bytes),
            changes: FOUR.into_iter().zip(before.iter().zip(&after)).map(change).collect(),
        })
    }

    /// One in `part` of a level's budget.
    fn part(&self, budget: LevelBudget, part: u64) -> Stop {
        Stop {
            bytes: Some((budget.write_bytes / part).min(REQUESTS_MAX * self.area.block_bytes)),
            time: Some(Nanos(budget.time.0 / part)),
        }
    }

    /// Measures the four patterns. Sequential writes run until `sequential_write`.
    fn four(&self, lab: &mut Lab<'_>, sequential_write: Stop) -> Result<Vec<Measurement>, LoadError> {
        let block_bytes = self.area.block_bytes;
        let cell = Stop { bytes: Some(CELL_REQUESTS * block_bytes), time: Some(CELL_TIME) };
        let mut measurements = Vec::new();
        for (pattern, operation) in FOUR {
            lab.report(&format!("{pattern} {operation}s at {:.0} % full", self.fill_share * 100.0));
            let is_long = (pattern, operation) == (PatternSpec::Sequential, OperationKind::Write);
            let stop = if is_long { sequential_write } else { cell };
            let addresses = pattern.start(self.area, 1, lab.seed ^ 7);
            let queue_depth = if pattern == PatternSpec::Sequential { 1 } else { self.queue_depth };
            measurements.push(run(lab, addresses, operation, block_bytes, stop, queue_depth)?);
        }
        Ok(measurements)
    }
}

type Pair = (PatternSpec, OperationKind);

/// Reads come first, since writes change the data.
const FOUR: [Pair; 4] = [
    (PatternSpec::Sequential, OperationKind::Read),
    (PatternSpec::Random, OperationKind::Read),
    (PatternSpec::Sequential, OperationKind::Write),
    (PatternSpec::Random, OperationKind::Write),
];

fn run(
    lab: &mut Lab<'_>,
    pattern: Pattern,
    operation: OperationKind,
    block_bytes: u64,
    stop: Stop,
    queue_depth: u32,
) -> Result<Measurement, LoadError> {
    let queue_depth = queue_depth.min(lab.circumstances.slots);
    let load = ClosedLoop { queue_depth, refill: Refill::Exact, counting: Counting::Whole, stop };
    let seed = lab.seed;
    lab.run(load, Work { pattern, block_bytes, operation, contents: None, seed })
}
