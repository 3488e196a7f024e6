//! *How do reads scale over threads and queues?*
//!
//! Random reads of 4 KiB by 1 to 8 threads. Each thread has its own ring, and so its own path to a
//! device queue, with 1 or 32 reads outstanding. The result shows the limit of a single thread and
//! the processor time per request. A modelled drive's host has one processor. The experiment only
//! reads.

use nandle_io::Nanos;
use nandle_profile::experiments::{Scaling, ScalingCell};
use nandle_profile::{Conducted, Experiments, OperationKind};

use super::rounds::{Rounds, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{
    ClosedLoop, Counting, LaneOptions, LoadError, Measurement, Refill, Stop, Work, run_on_threads,
};
use crate::pattern::{Area, Random};

/// See the [module](self).
pub(super) struct ScalingOverThreads;

const BLOCK_BYTES: u64 = 4 << 10;
const THREADS_MAX: u32 = 8;
const THREADS: [u32; 4] = [1, 2, 4, THREADS_MAX];
const DEPTHS: [u32; 2] = [1, 32];
const ROUNDS_MAX: usize = 9;
/// Includes the time to set up the worlds.
const SLICE_MAX: Nanos = Nanos::from_millis(500);

impl Experiment for ScalingOverThreads {
    type Findings = Scaling;

    fn name(&self) -> &'static str {
        "scaling"
    }

    fn question(&self) -> &'static str {
        "How do reads scale over threads and queues?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if circumstances.is_modelled {
            return Err("a modelled drive's host has one processor, which submits from one thread".into());
        }
        let (time_least, time_wanted) = (Nanos::from_secs(2), Nanos::from_secs(30));
        Ok(Cost { time_least, time_wanted, write_bytes_max: 0 })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<Scaling>> {
        &mut experiments.scaling
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut Scaling) -> Result<(), LoadError> {
        findings.block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        let area = area_from(lab, 0, findings.block_bytes)?;
        let cells: Vec<(u32, u32)> =
            THREADS.into_iter().flat_map(|threads| DEPTHS.map(|depth| (threads, depth))).collect();
        let mut sums: Vec<Measurement> = cells.iter().map(|_| Measurement::new()).collect();
        let numbers: Vec<usize> = (0..cells.len()).collect();
        let mut seeds = Seeds::new(lab);
        let turns = Turns { time: lab.time_left(), rounds_max: ROUNDS_MAX, slice_max: SLICE_MAX };
        let rounds = Rounds::measure(lab, &numbers, turns, |lab, number, time| {
            let (Some(cell), Some(sum)) = (cells.get(*number), sums.get_mut(*number)) else {
                return Ok(None);
            };
            lab.report(&format!("{} threads, {} outstanding of each", cell.0, cell.1));
            let measured = slice(lab, *cell, area, seeds.next(), time)?;
            lab.note_failures(&measured);
            sum.extend(&measured);
            Ok(Sample::requests(&measured))
        })?;
        for (number, ((threads, depth), sum)) in cells.iter().zip(&sums).enumerate() {
            findings.cells.extend(rounds.rate(number).map(|iops| ScalingCell {
                threads: *threads,
                queue_depth_per_thread: *depth,
                iops,
                cpu_ns_per_request: sum.cpu_ns_per_request(),
            }));
        }
        Ok(())
    }
}

fn slice(
    lab: &Lab<'_>,
    (threads, queue_depth): (u32, u32),
    area: Area,
    seed: u64,
    time: Nanos,
) -> Result<Measurement, LoadError> {
    let buffer_bytes = u64::from(queue_depth) * area.block_bytes;
    // Each thread gets the same memory for any number of threads, so that caching is equal.
    let read_pool_bytes = lab.read_pool_bytes() / u64::from(THREADS_MAX) * u64::from(threads);
    let options = LaneOptions { buffer_bytes, read_pool_bytes, patience: lab.lane.patience };
    let cancel = lab.cancel;
    run_on_threads(
        lab.open,
        threads,
        queue_depth,
        options,
        &|number, lane| {
            let seed = seed.wrapping_add(u64::from(number) << 32);
            let (pattern, operation) = (Box::new(Random::new(area, seed)), OperationKind::Read);
            let work = Work { pattern, block_bytes: area.block_bytes, operation, contents: None, seed };
            let run = ClosedLoop {
                queue_depth,
                refill: Refill::Exact,
                counting: Counting::Window { warm_up_requests: u64::from(queue_depth) },
                stop: Stop::after(time),
            };
            run.run(lane, work, cancel)
        },
        &|_| {},
    )
}
