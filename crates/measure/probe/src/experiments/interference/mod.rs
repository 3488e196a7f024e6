//! *What do writes do to the latency of reads?*
//!
//! Random reads and random writes of 8 KiB arrive on schedules of their own (open loop, Poisson), at every combination of
//! shares of the most reads and of the most writes per second that the device gives alone. Latency counts from the
//! scheduled arrival, so that a device that falls behind can't hide it; cells that missed their rates are marked. The
//! cells are measured in turns.
//!
//! It writes at random all over the area for most of its time: on a fast device gigabytes. A real device is watched in the
//! state in which it is found. A modelled one begins with all its spare blocks, which writes that go on and on use up; so it
//! is written to until it cleans as it will from then on ([`aged`]), and is left alone for a moment between slices. Neither
//! takes any of the time. Its slices are long, for several rounds of cleaning in each cell, and for the sake of the host's
//! processor there are fewer cells.
//!
//! Both matter. A fresh `nvme-plp` takes half of its most writes beside reads in slices of 4 000 requests, and none in slices of
//! 16 000, of which some meet cleaning and others don't: the number of requests gives the answer. Aged (a sixth as many
//! writes are its most then), it takes none or a tenth in slices of 50 000, 100 000 and 200 000; the upper bound falls from a
//! quarter to a tenth meanwhile. `x25-e-64`, aged, takes nine tenths in slices of 4 000, which fall between its pauses, and a
//! tenth to a quarter in those that it has in 240 s. (`nvme-plp`'s figures are of a model whose reads queued behind transfers far
//! ahead, and are to be measured anew.) With less time bounds are too narrow for a drive that pauses so rarely.

mod aged;
mod cell;
mod conclude;

use nandle_io::Nanos;
use nandle_profile::experiments::InterferenceMap;
use nandle_profile::{Conducted, Derived, Experiments, OperationKind};

use self::cell::{Cell, Rates};
use super::rounds::{Rounds, SLICE_MIN, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{ClosedLoop, Counting, Latencies, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::Random;

/// See the [module](self).
pub(super) struct Interference;

/// A page of a database.
const BLOCK_BYTES: u64 = 8 << 10;
/// Shares of the most reads, and of the most writes, per second; of a slow device, which has time for few.
const READ_SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
const WRITE_SHARES: [f64; 7] = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];
const FEW_READ_SHARES: [f64; 3] = [0.25, 0.5, 0.9];
const FEW_WRITE_SHARES: [f64; 5] = [0.0, 0.1, 0.25, 0.5, 0.9];
/// Slices of a cell, and how long each is at most: of most devices, and of those whose slices are to be long.
const MANY_SLICES: (usize, Nanos) = (6, Nanos::from_millis(2500));
const LONG_SLICES: (usize, Nanos) = (3, Nanos::from_secs(10));
const ONE_READ_SHARE: [f64; 1] = [0.5];
const FEWEST_WRITE_SHARES: [f64; 4] = [0.0, 0.25, 0.5, 0.9];
/// In a cell with fewer writes than this their effect is luck.
const WRITES_MIN: f64 = 12.0;
/// A cell of a modelled drive has as much time at least, or the map is a smaller one: in less of it falls between two
/// pauses of a drive that cleans in bursts. Fast drives do as much in their most requests.
const CELL_TIME_MIN: Nanos = Nanos::from_secs(6);
/// Deep enough for the most that a device gives, and shallow enough for a disk; and where reads are slow, for a drive whose
/// writes take a third of a second each, of which a full queue would take all the time.
const DEPTH_OF_MOST: u32 = 32;
const DEPTH_OF_MOST_SLOW: u32 = 4;
/// Requests outstanding of each of the two streams; arrivals beyond it wait, and the wait counts.
pub(super) const STREAM_DEPTH: u32 = 96;
/// Part of the time, and of the bytes, for the most of each.
const MOST_PART: u64 = 12;
const MOST_REQUESTS_MAX: u64 = 15_000;
/// Where reads come about less often than this, fewer cells are measured for longer.
const SLOW_READS_PER_S: f64 = 2000.0;
/// Bytes that it may write where nothing else bounds it.
const WRITE_BYTES_MAX: u64 = 32 << 30;

/// A cell with less time has one slice at most, which says nothing of how slices differ.
const TWO_SLICES: Nanos = Nanos(2 * SLICE_MIN.0);
/// What arrives by chance can be more than is expected.
const BYTES_KEPT_TO: f64 = 0.9;

/// Shares of reads and of writes.
type Map = (&'static [f64], &'static [f64]);

impl Experiment for Interference {
    type Findings = InterferenceMap;

    fn name(&self) -> &'static str {
        "interference"
    }

    fn question(&self) -> &'static str {
        "What do writes do to the latency of reads?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !circumstances.shape.writable {
            return Err("the device was opened for reading".into());
        }
        Ok(Cost {
            time_least: Nanos::from_secs(10),
            time_wanted: Nanos::from_secs(240),
            write_bytes_max: WRITE_BYTES_MAX,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<InterferenceMap>> {
        &mut experiments.interference
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut InterferenceMap) -> Result<(), LoadError> {
        let block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        let mut seeds = Seeds::new(lab);
        (findings.read_block_bytes, findings.write_block_bytes) = (block_bytes, block_bytes);
        let time = Nanos(lab.time_left().0 / MOST_PART);
        let most_reads =
            PeakLoad { operation: OperationKind::Read, queue_depth: DEPTH_OF_MOST, block_bytes, time };
        findings.read_iops_max = most_reads.measure(lab, &mut seeds)?;
        aged::age(lab, &mut seeds)?;
        let queue_depth = if is_slow(findings) { DEPTH_OF_MOST_SLOW } else { DEPTH_OF_MOST };
        let most_writes = PeakLoad { operation: OperationKind::Write, queue_depth, block_bytes, time };
        findings.write_iops_max = most_writes.measure(lab, &mut seeds)?;
        if findings.write_iops_max <= 0.0 || findings.read_iops_max <= 0.0 {
            lab.cut_short("the most reads or writes per second could not be measured");
            return Ok(());
        }
        let time = time_for(lab, findings);
        let cleans = aged::cleans(lab);
        let Some(mut cells) = cells(findings, time, cleans) else {
            let reason = if time < lab.time_left() {
                "the bytes that it may write are too few to watch writes beside reads; give a larger --write-limit".into()
            } else {
                format!(
                    "writes come about too rarely ({:.1} a second at most) to be watched beside reads in the time; give a \
                     larger --budget",
                    findings.write_iops_max
                )
            };
            lab.cut_short(reason);
            return Ok(());
        };
        let slices = if cleans || is_slow(findings) { LONG_SLICES } else { MANY_SLICES };
        let measured = measure(lab, &mut cells, block_bytes, &mut seeds, time, slices);
        findings.cells = conclude::cells(&cells);
        measured
    }

    fn derive(&self, findings: &InterferenceMap, derived: &mut Derived) {
        derived.interference = conclude::limit(findings);
    }
}

/// Requests that run alone, for their highest rate.
struct PeakLoad {
    operation: OperationKind,
    queue_depth: u32,
    block_bytes: u64,
    time: Nanos,
}

impl PeakLoad {
    /// Measures the most requests per second: of two equal runs the second, when a cache that takes the first writes in is full. Where
    /// the first has used the time of both up it stands.
    fn measure(&self, lab: &mut Lab<'_>, seeds: &mut Seeds) -> Result<f64, LoadError> {
        let &Self { operation, queue_depth, block_bytes, time } = self;
        lab.tell(&format!("the most {operation}s per second"));
        let ends = lab.now() + time;
        let allowed =
            if operation == OperationKind::Write { lab.write_left_bytes() / MOST_PART } else { u64::MAX };
        let bytes = allowed.min(MOST_REQUESTS_MAX * block_bytes);
        let mut last = Measurement::new();
        for number in 0..2 {
            if number > 0 && lab.now() >= ends {
                break;
            }
            let seed = seeds.next();
            let area = area_from(lab, 0, block_bytes)?;
            let run = ClosedLoop {
                queue_depth,
                refill: Refill::Exact,
                counting: Counting::Window { warm_up_requests: u64::from(queue_depth) },
                stop: Stop { bytes: Some(bytes), time: Some(Nanos(time.0 / 2)) },
            };
            let pattern = Box::new(Random::new(area, seed));
            last = lab.run(run, Work { pattern, block_bytes, operation, contents: None, seed })?;
        }
        Ok(last.iops())
    }
}

fn is_slow(findings: &InterferenceMap) -> bool {
    findings.read_iops_max < SLOW_READS_PER_S
}

/// Whether a modelled drive does its most requests of a cell before the least time of one is over.
fn is_fast(findings: &InterferenceMap) -> bool {
    findings.read_iops_max * CELL_TIME_MIN.as_secs_f64() > LONG_SLICES.0 as f64 * cell::MODELLED_REQUESTS_MAX
}

/// Time for all cells: what is left of it, or that in which what may be written is written.
fn time_for(lab: &mut Lab<'_>, findings: &InterferenceMap) -> Nanos {
    let share = WRITE_SHARES.iter().sum::<f64>() / WRITE_SHARES.len() as f64;
    let bytes_per_s = share * findings.write_iops_max * findings.write_block_bytes as f64;
    let seconds = BYTES_KEPT_TO * lab.write_left_bytes() as f64 / bytes_per_s;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let writing = Nanos((seconds * 1e9) as u64);
    lab.time_left().min(writing)
}

/// The largest map in each of whose cells some writes come about in the time; `None` where the smallest is too large.
fn cells(findings: &InterferenceMap, time: Nanos, cleans: bool) -> Option<Vec<Cell>> {
    let cell = |read_share, write_share| {
        let read_per_s = read_share * findings.read_iops_max;
        let write_per_s = write_share * findings.write_iops_max;
        Cell::new(Rates { read_share, write_share, read_per_s, write_per_s })
    };
    let (many, few): (Map, Map) = ((&READ_SHARES, &WRITE_SHARES), (&FEW_READ_SHARES, &FEW_WRITE_SHARES));
    let is_watched = |(reads, writes): &Map| {
        let each = Nanos(time.0 / (reads.len() * writes.len()) as u64);
        let least = writes.iter().copied().filter(|share| *share > 0.0).fold(1.0, f64::min);
        let is_long = !cleans || is_fast(findings) || each >= CELL_TIME_MIN;
        is_long && each >= TWO_SLICES && least * findings.write_iops_max * each.as_secs_f64() >= WRITES_MIN
    };
    let one_row: [Map; 2] = [(&ONE_READ_SHARE, &FEW_WRITE_SHARES), (&ONE_READ_SHARE, &FEWEST_WRITE_SHARES)];
    let maps = [many, few].into_iter().chain(one_row).skip(usize::from(cleans || is_slow(findings)));
    let (reads, writes) = maps.into_iter().find(is_watched)?;
    Some(reads.iter().flat_map(|read| writes.iter().map(|write| cell(*read, *write))).collect())
}

fn measure(
    lab: &mut Lab<'_>,
    cells: &mut [Cell],
    block_bytes: u64,
    seeds: &mut Seeds,
    time: Nanos,
    (rounds_max, slice_max): (usize, Nanos),
) -> Result<(), LoadError> {
    let numbers: Vec<usize> = (0..cells.len()).collect();
    let turns = Turns { time, rounds_max, slice_max };
    let measured = Rounds::measure(lab, &numbers, turns, |lab, number, time| {
        let Some(cell) = cells.get_mut(*number) else { return Ok(None) };
        cell.slice(lab, block_bytes, seeds, time).map(|()| None)
    });
    measured.map(|_| ())
}

/// A quantile of a histogram, where ten observations lie beyond it.
fn quantile_ns(latency_ns: &Latencies, quantile: f64) -> Option<f64> {
    let beyond = latency_ns.len() as f64 * (1.0 - quantile);
    (beyond >= 9.999).then(|| latency_ns.value_at_quantile(quantile) as f64)
}
