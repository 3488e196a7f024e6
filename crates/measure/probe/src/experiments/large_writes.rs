//! *How fast are large sequential writes with several outstanding?*
//!
//! Sequential writes of 32 KiB to 1 MiB at depth 16, and of 1 MiB at lower depths, in turns. Logs,
//! compactions, backups and page cache writeback produce such loads. The rows of
//! [`write_patterns`](super::write_patterns) are uFLIP's: one small request at a time, which says
//! nothing about bandwidth. The experiment overwrites the area sequentially with at most a few
//! gigabytes. Absorption by a cache beyond that is the question of
//! [`write_cache`](super::write_cache).

use nandle_io::Nanos;
use nandle_profile::experiments::{LargeWriteCell, LargeWrites};
use nandle_profile::{Conducted, Derived, Experiments, OperationKind};

use super::rounds::{Requests, Rounds, SLICE_MAX, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{LoadError, Measurement};
use crate::pattern::Sequential;

/// See the [module](self).
pub(super) struct LargeSequentialWrites;

const MIB: u64 = 1 << 20;
/// Depth at which large writes saturate all common devices.
const DEPTH: u32 = 16;
/// Sizes at that depth, and lower depths of the largest size.
const SIZES: [u64; 4] = [32 << 10, 128 << 10, 512 << 10, MIB];
const SHALLOW_DEPTHS: [u32; 2] = [1, 4];
const ROUNDS_MAX: usize = 9;
/// Most bytes of a slice: 50 ms at 2.5 GB/s.
const SLICE_BYTES_MAX: u64 = 128 * MIB;
/// Fewest bytes of a slice, enough to fill a queue of the largest writes twice.
const SLICE_BYTES_MIN: u64 = 2 * DEPTH as u64 * MIB;

/// Block size and queue depth.
type Cell = (u64, u32);

impl Experiment for LargeSequentialWrites {
    type Findings = LargeWrites;

    fn name(&self) -> &'static str {
        "large-writes"
    }

    fn question(&self) -> &'static str {
        "How fast are large sequential writes with several outstanding?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !circumstances.shape.writable {
            return Err("the device was opened for reading".into());
        }
        let cells = cells(circumstances).len() as u64;
        if cells == 0 {
            return Err("the area is too small for large writes; give a larger --file-size".into());
        }
        Ok(Cost {
            time_least: Nanos::from_millis(200 * cells),
            time_wanted: Nanos::from_millis(2500 * cells),
            write_bytes_max: cells * ROUNDS_MAX as u64 * SLICE_BYTES_MAX,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<LargeWrites>> {
        &mut experiments.large_writes
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut LargeWrites) -> Result<(), LoadError> {
        let cells = cells(lab.circumstances);
        let rounds_max = rounds(lab.write_left_bytes(), cells.len() as u64);
        let slice_bytes = lab.write_left_bytes() / (cells.len() * rounds_max) as u64;
        if slice_bytes < SLICE_BYTES_MIN / 2 {
            lab.out_of_writes();
            return Ok(());
        }
        let mut sums: Vec<Measurement> = cells.iter().map(|_| Measurement::new()).collect();
        let numbers: Vec<usize> = (0..cells.len()).collect();
        let mut seeds = Seeds::new(lab);
        let turns = Turns { time: lab.time_left(), rounds_max, slice_max: SLICE_MAX };
        let rounds = Rounds::measure(lab, &numbers, turns, |lab, number, time| {
            let (Some(cell), Some(sum)) = (cells.get(*number), sums.get_mut(*number)) else {
                return Ok(None);
            };
            let measured = slice(lab, *cell, slice_bytes.min(SLICE_BYTES_MAX), seeds.next(), time)?;
            sum.extend(&measured);
            Ok(Sample::bytes(&measured))
        })?;
        for (number, ((block_bytes, queue_depth), sum)) in cells.iter().zip(&sums).enumerate() {
            findings.cells.extend(rounds.rate(number).map(|bandwidth_bytes_per_s| LargeWriteCell {
                block_bytes: *block_bytes,
                queue_depth: *queue_depth,
                requests: sum.requests,
                bandwidth_bytes_per_s,
                latency_ns: sum.latency_ns.summary(),
            }));
        }
        Ok(())
    }

    fn derive(&self, findings: &LargeWrites, derived: &mut Derived) {
        let rates = findings.cells.iter().map(|cell| cell.bandwidth_bytes_per_s);
        derived.sequential_write_bandwidth_bytes_per_s_max =
            rates.max_by(|one, other| one.value.total_cmp(&other.value));
    }
}

/// Cells that the device supports and whose doubled queue fits into the area.
fn cells(circumstances: &Circumstances) -> Vec<Cell> {
    let shape = &circumstances.shape;
    let unit_bytes = shape.logical_block_bytes.max(shape.memory_alignment_bytes);
    let depth = DEPTH.min(circumstances.slots);
    let deep = SIZES.map(|block_bytes| (block_bytes, depth));
    let shallow = SHALLOW_DEPTHS.map(|depth| (MIB, depth));
    let is_possible = |(block_bytes, queue_depth): &Cell| {
        block_bytes.is_multiple_of(unit_bytes)
            && *queue_depth <= circumstances.slots
            && 2 * block_bytes * u64::from(*queue_depth) <= circumstances.area_bytes
    };
    deep.into_iter().chain(shallow).filter(is_possible).collect()
}

/// Number of rounds within the write limit, at least one.
fn rounds(write_bytes: u64, cells: u64) -> usize {
    let rounds = write_bytes / (cells.max(1) * SLICE_BYTES_MIN);
    usize::try_from(rounds).unwrap_or(ROUNDS_MAX).clamp(1, ROUNDS_MAX)
}

fn slice(
    lab: &mut Lab<'_>,
    (block_bytes, queue_depth): Cell,
    slice_bytes: u64,
    seed: u64,
    time: Nanos,
) -> Result<Measurement, LoadError> {
    lab.report(&format!("writes of {} KiB, {queue_depth} outstanding", block_bytes >> 10));
    let requests = Requests {
        operation: OperationKind::Write,
        block_bytes,
        queue_depth,
        count_max: (slice_bytes / block_bytes).saturating_sub(2 * u64::from(queue_depth)).max(1),
        first_uncounted: 0,
    };
    let area = area_from(lab, 0, block_bytes)?;
    requests.slice(lab, Box::new(Sequential::new(area, seed)), seed, time)
}
