//! *What is the device's internal block size?*
//!
//! Random reads and writes of 512 bytes to 16 KiB, and shifted ones of 8 KiB, in turns. The
//! smallest block is the largest size with more than 1.05 times the request rate of every smaller
//! size. Below it a request costs more than a larger one, because the device must first read the
//! rest of its block. The factor is that of Seastar's iotune, which stops at the first size whose
//! double isn't faster. That rule fails if several sizes below the device's block cost the same.
//!
//! Writes go to random positions of the whole area for about a third of the time, or are left out
//! if not allowed.

use nandle_io::Nanos;
use nandle_profile::experiments::{AlignmentCost, BlockRate, SmallestBlock};
use nandle_profile::{Conducted, Derived, Experiments, Interval, OperationKind};
use nandle_units::format_bytes;

use super::depth::depth_within;
use super::rounds::{ONE_ROUND, Requests, Rounds, SLICE_MAX, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;
use crate::pattern::Random;

/// See the [module](self).
pub(super) struct SmallestBlockSearch;

const SIZES: [u64; 6] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10];
const SHIFTED_BYTES: u64 = 8 << 10;
const SHIFTS: [u64; 4] = [512, 1 << 10, 2 << 10, 4 << 10];
/// Deep enough for a parallel device, but not so deep that a disk takes seconds to fill the queue.
/// A slow device gets a shallower queue.
const QUEUE_DEPTH: u32 = 8;
/// Approximate length of a slice in queues: warm-up, counted requests, and drain.
const QUEUES_OF_SLICE: u64 = 3;
pub(super) const ROUNDS_MAX: usize = 11;
const SLICE_REQUESTS_MAX: u64 = 500;
/// Smallest ratio at which a size counts as faster than a smaller one (iotune).
const BETTER: f64 = 1.05;

/// Requests of one size, with a shift from their alignment.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    operation: OperationKind,
    block_bytes: u64,
    shift_bytes: u64,
}

impl Cell {
    fn requests(&self, queue_depth: u32) -> Requests {
        let Self { operation, block_bytes, .. } = *self;
        Requests { operation, block_bytes, queue_depth, count_max: SLICE_REQUESTS_MAX, first_uncounted: 0 }
    }
}

impl Experiment for SmallestBlockSearch {
    type Findings = SmallestBlock;

    fn name(&self) -> &'static str {
        "smallest-block"
    }

    fn question(&self) -> &'static str {
        "What is the device's internal block size?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        let cells = cells(circumstances, &operations(circumstances.shape.writable));
        let count = cells.len() as u64;
        Ok(Cost {
            time_least: Nanos::from_millis(60 * count),
            time_wanted: Nanos::from_millis(1500 * count),
            write_bytes_max: round_bytes(&cells) * ROUNDS_MAX as u64,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SmallestBlock>> {
        &mut experiments.smallest_block
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut SmallestBlock) -> Result<(), LoadError> {
        let writes = lab.write_left_bytes() > 0;
        let cells = cells(lab.circumstances, &operations(writes));
        let mut seeds = Seeds::new(lab);
        // Fewer rounds if the write limit is low: the intervals get wider, but there is an answer.
        let by_bytes =
            usize::try_from(lab.write_left_bytes() / round_bytes(&cells).max(1)).unwrap_or(usize::MAX);
        let rounds_max = if writes { by_bytes.clamp(1, ROUNDS_MAX) } else { ROUNDS_MAX };
        if rounds_max == 1 {
            lab.remark(ONE_ROUND);
        }
        let operation = if writes { OperationKind::Write } else { OperationKind::Read };
        let queue_time = Nanos(lab.time_left().0 / (cells.len() as u64 * QUEUES_OF_SLICE).max(1));
        let block_bytes = SHIFTED_BYTES.next_multiple_of(unit_bytes(lab.circumstances));
        let queue_depth = depth_within(lab, queue_time, operation, block_bytes, QUEUE_DEPTH)?;
        let turns = Turns { time: lab.time_left(), rounds_max, slice_max: SLICE_MAX };
        let rounds = Rounds::measure(lab, &cells, turns, |lab, cell, time| {
            lab.report(&format!("{}s of {}", cell.operation, format_bytes(cell.block_bytes)));
            let area = area_from(lab, cell.shift_bytes, cell.block_bytes)?;
            let seed = seeds.next();
            let measured =
                cell.requests(queue_depth).slice(lab, Box::new(Random::new(area, seed)), seed, time)?;
            Ok(Sample::requests(&measured))
        })?;
        conclude(&cells, queue_depth, &rounds, findings);
        Ok(())
    }

    fn derive(&self, findings: &SmallestBlock, derived: &mut Derived) {
        let smallest = findings.rates.iter().map(|rate| rate.block_bytes).min();
        // Without writes, reads alone decide.
        let write = findings.write_bytes.or(smallest.map(Interval::exact));
        let larger = |read: Interval<u64>, write: Interval<u64>| Interval {
            value: read.value.max(write.value),
            low: read.low.max(write.low),
            high: read.high.max(write.high),
        };
        derived.smallest_block_bytes =
            findings.read_bytes.zip(write).map(|(read, write)| larger(read, write));
    }
}

fn operations(writes: bool) -> Vec<OperationKind> {
    if writes { vec![OperationKind::Read, OperationKind::Write] } else { vec![OperationKind::Read] }
}

/// Most bytes written in a round.
fn round_bytes(cells: &[Cell]) -> u64 {
    let writes = cells.iter().filter(|cell| cell.operation == OperationKind::Write);
    writes.map(|cell| cell.requests(QUEUE_DEPTH).bytes_max()).sum()
}

/// Alignment of all requests.
fn unit_bytes(circumstances: &Circumstances) -> u64 {
    circumstances.shape.logical_block_bytes.max(circumstances.shape.memory_alignment_bytes)
}

fn cells(circumstances: &Circumstances, operations: &[OperationKind]) -> Vec<Cell> {
    let unit = unit_bytes(circumstances);
    let takes = |bytes: &u64| bytes.is_multiple_of(unit);
    let mut cells = Vec::new();
    for &operation in operations {
        let sized = |block_bytes| Cell { operation, block_bytes, shift_bytes: 0 };
        let shifted = |shift_bytes| Cell { operation, block_bytes: SHIFTED_BYTES, shift_bytes };
        cells.extend(SIZES.into_iter().filter(takes).map(sized));
        cells.extend(SHIFTS.into_iter().filter(takes).map(shifted));
    }
    cells
}

fn conclude(cells: &[Cell], queue_depth: u32, rounds: &Rounds, findings: &mut SmallestBlock) {
    let of = |wanted: Cell| cells.iter().position(|cell| *cell == wanted);
    for (index, &Cell { operation, block_bytes, shift_bytes }) in cells.iter().enumerate() {
        if shift_bytes == 0 {
            let rate = |iops| BlockRate { operation, block_bytes, queue_depth, iops };
            findings.rates.extend(rounds.rate(index).map(rate));
        } else {
            let aligned = of(Cell { operation, block_bytes, shift_bytes: 0 });
            // The ratio of times is the inverse ratio of rates.
            let relative = aligned.and_then(|aligned| rounds.ratio(aligned, index));
            let cost = |relative_cost| AlignmentCost { operation, block_bytes, shift_bytes, relative_cost };
            findings.alignments.extend(relative.map(cost));
        }
    }
    findings.read_bytes = last_step(cells, rounds, OperationKind::Read);
    findings.read_flat_to_bytes = flat_to(cells, rounds);
    let least = cells.iter().map(|cell| cell.block_bytes).min();
    findings.write_bytes = last_step(cells, rounds, OperationKind::Write);
    findings.read_modify_write_below_bytes = findings.write_bytes.filter(|write| Some(write.value) > least);
}

/// Largest size that is faster than all smaller ones. `None` if a size wasn't measured. Without
/// such a step, it is the smallest size. An uncertain step only affects the upper bound.
fn last_step(cells: &[Cell], rounds: &Rounds, operation: OperationKind) -> Option<Interval<u64>> {
    let sizes = sizes(cells, operation);
    if sizes.iter().any(|(index, _)| rounds.rate(*index).is_none()) {
        return None;
    }
    // Below its block a device is slower at every size. A single equally fast size would mean that
    // the step is noise.
    let over_smaller = |(index, (double, block_bytes)): (usize, &(usize, u64))| {
        let ratios = sizes.iter().take(index).filter_map(|(smaller, _)| rounds.ratio(*double, *smaller));
        Some((*block_bytes, ratios.reduce(least_of)?))
    };
    let steps: Vec<(u64, Interval<f64>)> = sizes.iter().enumerate().filter_map(over_smaller).collect();
    let (_, least) = sizes.first().copied().filter(|_| !steps.is_empty())?;
    let biggest = |is_step: fn(&Interval<f64>) -> bool| {
        steps.iter().rev().find(|(_, ratio)| is_step(ratio)).map_or(least, |(block_bytes, _)| *block_bytes)
    };
    // Any block size between the previous size and this one shows as a step at this one.
    let before = |size: u64| sizes.iter().rev().map(|(_, tried)| *tried).find(|tried| *tried < size);
    let surely = biggest(|ratio| ratio.low > BETTER);
    Some(Interval {
        value: biggest(|ratio| ratio.value > BETTER && ratio.low > 1.0),
        low: before(surely).unwrap_or(surely),
        high: biggest(|ratio| ratio.high > BETTER),
    })
}

fn least_of(one: Interval<f64>, other: Interval<f64>) -> Interval<f64> {
    Interval {
        value: one.value.min(other.value),
        low: one.low.min(other.low),
        high: one.high.min(other.high),
    }
}

/// Largest size with nearly the request rate of the smallest.
fn flat_to(cells: &[Cell], rounds: &Rounds) -> Option<Interval<u64>> {
    let sizes = sizes(cells, OperationKind::Read);
    let (smallest, least) = *sizes.first()?;
    let biggest = |rate: fn(&Interval<f64>) -> f64| {
        let flat = sizes.iter().take_while(|(index, _)| {
            rounds.ratio(*index, smallest).is_some_and(|ratio| rate(&ratio) * BETTER >= 1.0)
        });
        flat.last().map_or(least, |(_, block_bytes)| *block_bytes)
    };
    rounds.rate(smallest)?;
    Some(Interval {
        value: biggest(|ratio| ratio.value),
        low: biggest(|ratio| ratio.low),
        high: biggest(|ratio| ratio.high),
    })
}

/// Aligned cells with their index, by size.
fn sizes(cells: &[Cell], operation: OperationKind) -> Vec<(usize, u64)> {
    let aligned = |cell: &Cell| cell.operation == operation && cell.shift_bytes == 0;
    let numbered = cells.iter().enumerate().filter(|(_, cell)| aligned(cell));
    numbered.map(|(index, cell)| (index, cell.block_bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_writes_that_may_be_there_widens_the_interval() {
        let findings = SmallestBlock {
            read_bytes: Some(Interval::exact(512)),
            write_bytes: Some(Interval { value: 512, low: 512, high: 4096 }),
            ..SmallestBlock::default()
        };
        let mut derived = Derived::default();
        SmallestBlockSearch.derive(&findings, &mut derived);
        assert_eq!(derived.smallest_block_bytes, Some(Interval { value: 512, low: 512, high: 4096 }));
    }
}
