use std::sync::Mutex;

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{DriveCounters, Nanos, Shape};
use nandle_profile::{Cell, DriveWork, OperationKind};

use super::{CellSpec, SweepOptions, to_cell};
use crate::load::{
    Cancel, ClosedLoop, Contents, Counting, Lane, LaneOptions, LoadError, Measurement, OpenLoop, Opener,
    ScheduleLag, Work, run_on_threads,
};
use crate::pattern::{Area, Pattern};

/// Device, area and controls of a sweep.
pub struct SweepContext<'a> {
    /// Opens the device for a submitting thread.
    pub open: &'a Opener<'a>,
    /// Shape of the device.
    pub shape: &'a Shape,
    /// Bytes addressed, from the start of the device.
    pub area_bytes: u64,
    /// Time without completions after which a run is abandoned.
    pub patience: Nanos,
    /// Contents that reads must return, if known.
    pub contents: Option<Contents>,
    /// Interrupts the sweep.
    pub cancel: &'a Cancel,
    /// Called at once when one of several threads detects a stall. The cell itself ends only when
    /// the device answers again.
    pub stalled: &'a (dyn Fn(&LoadError) + Sync),
}

/// Runs one cell.
///
/// # Errors
/// See [`ClosedLoop::run`].
pub fn run_cell(
    context: &SweepContext<'_>,
    options: &SweepOptions,
    spec: &CellSpec,
) -> Result<Cell, LoadError> {
    let threads = threads(options, spec);
    let lags = Mutex::new(Vec::new());
    let work = Mutex::new(None);
    let run = |number: u32, lane: &mut Lane| {
        let before = counters(lane);
        let (measurement, lag) = run_part(context, options, spec, Part { number, of: threads }, lane)?;
        // Only modelled drives have counters, and one thread drives them.
        if let (Some(before), Some(after), Ok(mut work)) = (before, counters(lane), work.lock()) {
            *work = Some(drive_work(after.since(before)));
        }
        if let Ok(mut lags) = lags.lock() {
            lags.extend(lag);
        }
        Ok(measurement)
    };
    let slots = spec.queue_depth.div_ceil(threads);
    // Buffers occupy whole grains. Writes also need a pool in addition to the blocks in flight.
    let buffer_bytes = spec.block_bytes.next_multiple_of(GRAIN_BYTES as u64);
    let part_bytes = buffer_bytes.saturating_mul(u64::from(slots) + 1);
    let room_bytes = write_pool_room_bytes(spec.operation, threads);
    let lane = LaneOptions {
        buffer_bytes: part_bytes.saturating_add(room_bytes),
        read_pool_bytes: if spec.operation.reads() { options.read_pool_bytes } else { 0 },
        patience: context.patience,
    };
    let measurement = run_on_threads(context.open, threads, slots, lane, &run, context.stalled)?;
    let lags = lags.into_inner().unwrap_or_default();
    let drive = work.into_inner().unwrap_or_default().filter(|_| spec.operation != OperationKind::Read);
    Ok(Cell { drive, ..to_cell(spec, &measurement, worst(&lags).as_ref()) })
}

fn counters(lane: &mut Lane) -> Option<DriveCounters> {
    let device = lane.device().id;
    lane.io().counters(device)
}

fn drive_work(counted: DriveCounters) -> DriveWork {
    DriveWork {
        host_written_bytes: counted.host_written_bytes,
        flash_written_bytes: counted.flash_written_bytes,
        erased_bytes: counted.erased_bytes,
        write_amplification: counted.write_amplification(),
    }
}

/// Number of threads, at most one per request.
fn threads(options: &SweepOptions, spec: &CellSpec) -> u32 {
    let requests = options.stop.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(spec.block_bytes.max(1)));
    let useful = spec.queue_depth.min(u32::try_from(requests).unwrap_or(u32::MAX));
    options.threads.clamp(1, useful.max(1))
}

/// Memory for one thread's write pool.
const WRITE_POOL_ROOM_BYTES: u64 = 9 << 20;
/// Number of threads up to which each gets a full-sized pool.
const POOLS_WHOLE_MAX: u64 = 16;
/// Smallest memory for a thread's write pool.
const WRITE_POOL_ROOM_BYTES_MIN: u64 = 1 << 20;

/// Memory for one thread's write pool. A few threads get a full-sized pool each. With hundreds of
/// threads, full-sized pools would need far more memory than all requests in flight.
fn write_pool_room_bytes(operation: OperationKind, threads: u32) -> u64 {
    match operation {
        OperationKind::Read => 0,
        OperationKind::Write | OperationKind::Mixed { .. } => {
            let share = POOLS_WHOLE_MAX * WRITE_POOL_ROOM_BYTES / u64::from(threads.max(1));
            share.clamp(WRITE_POOL_ROOM_BYTES_MIN, WRITE_POOL_ROOM_BYTES)
        }
    }
}

/// One thread's share of a cell.
#[derive(Clone, Copy)]
struct Part {
    number: u32,
    of: u32,
}

impl Part {
    /// The thread's share of the bytes of a run. The shares add up to the total, in whole blocks.
    fn of_bytes(self, bytes: u64, block_bytes: u64) -> u64 {
        let (blocks, of) = (bytes.div_ceil(block_bytes), u64::from(self.of));
        (blocks / of + u64::from(u64::from(self.number) < blocks % of)) * block_bytes
    }

    fn of_depth(self, depth: u32) -> u32 {
        depth / self.of + u32::from(self.number < depth % self.of)
    }

    /// The thread's share of the addresses. If the pattern ignores seeds, separate patterns would
    /// read the same blocks at the same time, so the threads take turns in one pattern.
    fn of_pattern(self, spec: &CellSpec, area: Area, seed: u64) -> Pattern {
        let pattern = spec.pattern.start(area, spec.group_blocks, seed);
        if self.of == 1 || spec.pattern.takes_seed() {
            return pattern;
        }
        Box::new(pattern.skip(self.number as usize).step_by(self.of as usize))
    }
}

fn run_part(
    context: &SweepContext<'_>,
    options: &SweepOptions,
    spec: &CellSpec,
    part: Part,
    lane: &mut Lane,
) -> Result<(Measurement, Option<ScheduleLag>), LoadError> {
    let work = work(context, options, spec, part)?;
    let queue_depth = part.of_depth(spec.queue_depth);
    let mut stop = options.stop;
    stop.bytes = stop.bytes.map(|bytes| part.of_bytes(bytes, spec.block_bytes));
    if let Some(rate) = options.rate {
        let time = stop.time.ok_or(LoadError::Endless)?;
        let open = OpenLoop {
            rate_per_s: rate.per_s / f64::from(part.of),
            arrivals: rate.arrivals,
            queue_depth,
            time,
            seed: seed(options.seed, spec, part.number),
        };
        let (measurement, lag) = open.run(lane, work, context.cancel)?;
        return Ok((measurement, Some(lag)));
    }
    let closed = ClosedLoop { queue_depth, refill: options.refill, counting: Counting::Whole, stop };
    Ok((closed.run(lane, work, context.cancel)?, None))
}

fn work(
    context: &SweepContext<'_>,
    options: &SweepOptions,
    spec: &CellSpec,
    part: Part,
) -> Result<Work, LoadError> {
    let block_bytes = spec.block_bytes;
    let area = Area::new(0, context.area_bytes, block_bytes)
        .ok_or_else(|| LoadError::Block { block_bytes, reason: "the area is smaller than that".into() })?;
    let seed = seed(options.seed, spec, part.number);
    let pattern = part.of_pattern(spec, area, place_seed(options.seed, spec, part.number));
    Ok(Work { pattern, block_bytes, operation: spec.operation, contents: context.contents, seed })
}

/// Seed of a thread's requests in a cell. It differs between cells and threads and is reproducible.
fn seed(seed: u64, spec: &CellSpec, thread: u32) -> u64 {
    [spec.block_bytes, spec.queue_depth.into(), thread.into()].into_iter().fold(seed, mixed)
}

/// Seed of a cell's addresses. Patterns with a single position use the same position in all cells,
/// so that block sizes and depths are comparable: on a disk, position determines throughput.
fn place_seed(sweep_seed: u64, spec: &CellSpec, thread: u32) -> u64 {
    if spec.pattern.has_one_place() {
        mixed(sweep_seed, thread.into())
    } else {
        seed(sweep_seed, spec, thread)
    }
}

/// Hash of two numbers (the finaliser of `SplitMix64`, Steele et al. 2014).
fn mixed(one: u64, other: u64) -> u64 {
    let mut bits = one.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(other);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Lag of the thread with the largest mean lag, with the unsent requests of all threads.
fn worst(lags: &[ScheduleLag]) -> Option<ScheduleLag> {
    let unsent = lags.iter().map(|lag| lag.unsent).sum();
    let worst =
        lags.iter().max_by(|a, b| a.lag_ns.mean.unwrap_or(0.0).total_cmp(&b.lag_ns.mean.unwrap_or(0.0)))?;
    Some(ScheduleLag { lag_ns: worst.lag_ns, unsent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternSpec;

    fn cell(pattern: &str) -> CellSpec {
        CellSpec {
            pattern: pattern.parse().unwrap(),
            operation: nandle_profile::OperationKind::Read,
            block_bytes: 4096,
            group_blocks: 1,
            queue_depth: 8,
        }
    }

    #[test]
    fn many_threads_take_no_more_memory_for_pools_than_a_few_do() {
        let all = |threads: u32| u64::from(threads) * write_pool_room_bytes(OperationKind::Write, threads);
        assert_eq!((all(1), all(16)), (9 << 20, 144 << 20));
        assert!(all(100) <= 144 << 20 && all(256) <= 256 << 20);
        assert_eq!(write_pool_room_bytes(OperationKind::Read, 256), 0, "reads need no write pool");
    }

    #[test]
    fn threads_share_a_pattern_that_no_seed_changes() {
        let area = Area::new(0, 1 << 20, 4096).unwrap();
        for spec in ["partitioned:8", "ordered:2", "ordered:-1"].map(cell) {
            let of = |number| Part { number, of: 4 }.of_pattern(&spec, area, u64::from(number)).take(5);
            let mut together: Vec<u64> = (0..4).flat_map(of).collect();
            let mut alone: Vec<u64> = spec.pattern.start(area, 1, 0).take(20).collect();
            together.sort_unstable();
            alone.sort_unstable();
            assert_eq!(together, alone, "{}", spec.pattern);
        }
    }

    #[test]
    fn cells_and_threads_have_seeds_of_their_own() {
        let mut seeds = std::collections::HashSet::new();
        for block_bytes in [512, 4096, 1 << 20] {
            for queue_depth in [1, 2, 4, 64, 1024] {
                let spec = CellSpec { block_bytes, queue_depth, ..cell("random") };
                assert!((0..1024).all(|thread| seeds.insert(seed(1, &spec, thread))), "{spec}");
            }
        }
    }

    #[test]
    fn cells_at_one_place_share_it_and_threads_have_places_of_their_own() {
        let first = |spec: &CellSpec, thread| {
            let area = Area::new(0, 1 << 30, spec.block_bytes).unwrap();
            let seed = place_seed(1, spec, thread);
            Part { number: thread, of: 2 }.of_pattern(spec, area, seed).next().unwrap()
        };
        let small = cell("sequential");
        let deep = CellSpec { queue_depth: 64, ..small };
        assert_eq!(first(&small, 0), first(&deep, 0));
        assert_ne!(first(&small, 0), first(&small, 1));
        let large = CellSpec { block_bytes: 1 << 20, ..small };
        assert!(first(&small, 0).abs_diff(first(&large, 0)) < 1 << 20);
        let focused = cell("focused:8MiB");
        let deep = CellSpec { queue_depth: 64, ..focused };
        assert!(first(&focused, 0).abs_diff(first(&deep, 0)) < 8 << 20);
    }

    #[test]
    fn a_pattern_takes_a_seed_or_is_the_same_with_any() {
        let area = Area::new(0, 1 << 20, 4096).unwrap();
        for text in ["random", "sequential", "focused:64KiB", "zipf:0.8", "partitioned:8", "ordered:3"] {
            let pattern: PatternSpec = text.parse().unwrap();
            let first = |seed| pattern.start(area, 1, seed).take(9).collect::<Vec<_>>();
            assert_eq!((1..9).any(|seed| first(seed) != first(0)), pattern.takes_seed(), "{text}");
        }
    }
}
