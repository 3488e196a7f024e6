//! *What do asynchronous reads gain over blocking ones?*
//!
//! Random reads of 4 KiB to 1 MiB, in two ways with the same number outstanding: one thread per
//! read, each blocking in `pread`, and one thread with an asynchronous queue. DIAT (§1.1) compares
//! the two. A modelled drive has no system calls and a host with one thread, so a blocking read is
//! a single read there. The experiment only reads.

use nandle_io::Nanos;
use nandle_profile::experiments::{SyncRead, SyncReads};
use nandle_profile::{Conducted, Experiments, OperationKind};
use nandle_units::format_bytes;

use super::rounds::{Requests, Rounds, SLICE_MAX, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{
    ClosedLoop, Counting, LaneOptions, LoadError, Measurement, Refill, Stop, Work, run_on_threads,
};
use crate::pattern::{Area, Random};

/// See the [module](self).
pub(super) struct SyncReadsComparison;

const SIZES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const OUTSTANDING: [u32; 4] = [1, 4, 16, 32];
const ROUNDS_MAX: usize = 7;
const SLICE_REQUESTS_MAX: u64 = 1500;

/// Block size, number of outstanding reads, and kind of call.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    block_bytes: u64,
    outstanding: u32,
    blocks: bool,
}

impl Experiment for SyncReadsComparison {
    type Findings = SyncReads;

    fn name(&self) -> &'static str {
        "sync-reads"
    }

    fn question(&self) -> &'static str {
        "What do asynchronous reads gain over blocking ones?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        let (time_least, time_wanted) = (Nanos::from_secs(3), Nanos::from_secs(40));
        Ok(Cost { time_least, time_wanted, write_bytes_max: 0 })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SyncReads>> {
        &mut experiments.sync_reads
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut SyncReads) -> Result<(), LoadError> {
        let cells = cells(lab);
        let mut sums: Vec<Measurement> = cells.iter().map(|_| Measurement::new()).collect();
        let numbers: Vec<usize> = (0..cells.len()).collect();
        let mut seeds = Seeds::new(lab);
        let turns = Turns { time: lab.time_left(), rounds_max: ROUNDS_MAX, slice_max: SLICE_MAX };
        let rounds = Rounds::measure(lab, &numbers, turns, |lab, number, time| {
            let (Some(cell), Some(sum)) = (cells.get(*number), sums.get_mut(*number)) else {
                return Ok(None);
            };
            lab.report(&format!("{}, {} outstanding", format_bytes(cell.block_bytes), cell.outstanding));
            let measured = cell.slice(lab, seeds.next(), time)?;
            sum.extend(&measured);
            Ok(Sample::bytes(&measured))
        })?;
        let of = |wanted: Cell| cells.iter().position(|cell| *cell == wanted);
        for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.blocks) {
            let blocking = of(Cell { blocks: true, ..*cell });
            let cpu = |number: usize| sums.get(number).map(Measurement::cpu_ns_per_request);
            findings.reads.extend(rounds.rate(number).map(|async_bytes_per_s| SyncRead {
                block_bytes: cell.block_bytes,
                outstanding: cell.outstanding,
                sync_bytes_per_s: blocking.and_then(|number| rounds.rate(number)),
                async_bytes_per_s,
                sync_cpu_ns_per_request: blocking.and_then(cpu),
                async_cpu_ns_per_request: cpu(number).unwrap_or(0.0),
            }));
        }
        Ok(())
    }
}

fn cells(lab: &Lab<'_>) -> Vec<Cell> {
    let logical =
        lab.circumstances.shape.logical_block_bytes.max(lab.circumstances.shape.memory_alignment_bytes);
    let sizes = SIZES
        .into_iter()
        .filter(|size| size.is_multiple_of(logical) && *size <= lab.circumstances.area_bytes);
    let can_block = |outstanding| {
        if lab.circumstances.is_modelled { outstanding == 1 } else { lab.host_files().is_some() }
    };
    let mut cells = Vec::new();
    for block_bytes in sizes {
        for outstanding in OUTSTANDING {
            cells.push(Cell { block_bytes, outstanding, blocks: false });
            if can_block(outstanding) {
                cells.push(Cell { block_bytes, outstanding, blocks: true });
            }
        }
    }
    cells
}

impl Cell {
    fn slice(self, lab: &mut Lab<'_>, seed: u64, time: Nanos) -> Result<Measurement, LoadError> {
        let Self { block_bytes, outstanding, blocks } = self;
        let area = area_from(lab, 0, block_bytes)?;
        if blocks && !lab.circumstances.is_modelled {
            return self.block(lab, area, seed, time);
        }
        let requests = Requests {
            operation: OperationKind::Read,
            block_bytes,
            queue_depth: outstanding,
            count_max: SLICE_REQUESTS_MAX,
            first_uncounted: 0,
        };
        requests.slice(lab, Box::new(Random::new(area, seed)), seed, time)
    }

    /// Measures `outstanding` threads with one blocking read each.
    fn block(self, lab: &Lab<'_>, area: Area, seed: u64, time: Nanos) -> Result<Measurement, LoadError> {
        let Some(files) = lab.host_files() else { return Ok(Measurement::new()) };
        let open = |_| files.blocking();
        let options = LaneOptions {
            buffer_bytes: self.block_bytes,
            read_pool_bytes: lab.read_pool_bytes(),
            patience: lab.lane.patience,
        };
        let (block_bytes, cancel) = (self.block_bytes, lab.cancel);
        run_on_threads(
            &open,
            self.outstanding,
            1,
            options,
            &|number, lane| {
                let seed = seed.wrapping_add(u64::from(number) << 32);
                let pattern = Box::new(Random::new(area, seed));
                let work =
                    Work { pattern, block_bytes, operation: OperationKind::Read, contents: None, seed };
                let run = ClosedLoop {
                    queue_depth: 1,
                    refill: Refill::Exact,
                    counting: Counting::Window { warm_up_requests: 1 },
                    stop: Stop::after(time),
                };
                run.run(lane, work, cancel)
            },
            &|_| {},
        )
    }
}
