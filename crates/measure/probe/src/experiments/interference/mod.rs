//! *What do writes do to the latency of reads?*
//!
//! Random reads and random writes of 8 KiB arrive on independent schedules (open loop, Poisson).
//! Their rates are combinations of shares of the peak read rate and the peak write rate. Latency
//! counts from the scheduled arrival, so a device that falls behind can't hide it. Cells that
//! missed their rates are marked. The cells are measured in turns.
//!
//! The experiment writes at random positions of the whole area for most of its time: gigabytes on a
//! fast device. A real device is measured in its current state. A modelled one starts with all
//! spare blocks, which sustained writes use up. So it is preconditioned until garbage collection is
//! in a steady state ([`preconditioning`]), and idles for a moment between slices. Neither counts
//! as time of the experiment. Its slices are long, so that each cell has several rounds of garbage
//! collection, and it has fewer cells, to limit the host's processor time.
//!
//! Both matter. A fresh `nvme-plp` supports half of its peak writes along with reads in slices of 4
//! 000 requests, and none in slices of 16 000, some of which meet garbage collection: the result
//! depends on the number of requests. Preconditioned, its peak write rate is a sixth. Then it
//! supports none or a tenth in slices of 50 000, 100 000 and 200 000, with an upper bound that
//! falls from a quarter to a tenth. A preconditioned `x25-e-64` supports nine tenths in slices of 4
//! 000, which fall between its pauses, and a tenth to a quarter in the slices of a 240 s run. (The
//! figures of `nvme-plp` are from a model whose reads queued behind transfers far ahead, and must
//! be measured again.) With less time, bounds are too narrow for a drive that pauses so rarely.

mod cell;
mod conclude;
mod preconditioning;

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

/// Page size of a database.
const BLOCK_BYTES: u64 = 8 << 10;
/// Shares of the peak read and write rates; fewer of them for slow devices.
const READ_SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
const WRITE_SHARES: [f64; 7] = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];
const FEW_READ_SHARES: [f64; 3] = [0.25, 0.5, 0.9];
const FEW_WRITE_SHARES: [f64; 5] = [0.0, 0.1, 0.25, 0.5, 0.9];
/// Slices of a cell with their longest duration, for most devices, and for those that need long
/// slices.
const MANY_SLICES: (usize, Nanos) = (6, Nanos::from_millis(2500));
const LONG_SLICES: (usize, Nanos) = (3, Nanos::from_secs(10));
const ONE_READ_SHARE: [f64; 1] = [0.5];
const FEWEST_WRITE_SHARES: [f64; 4] = [0.0, 0.25, 0.5, 0.9];
/// Fewest writes in a cell for a significant effect.
const WRITES_MIN: f64 = 12.0;
/// Shortest time of a cell on a modelled drive; otherwise a smaller map is used. Less time can fall
/// between two pauses of a drive that collects garbage in bursts. Fast drives reach the limit of
/// requests sooner.
const CELL_TIME_MIN: Nanos = Nanos::from_secs(6);
/// Queue depth of the peak load: deep enough to saturate a device, shallow enough for a disk.
/// Devices with slow reads use the second one, since a write may take a third of a second there,
/// and filling a deep queue would take all the time.
const PEAK_DEPTH: u32 = 32;
const PEAK_DEPTH_SLOW: u32 = 4;
/// Queue depth of each stream. Further arrivals wait, and the wait counts.
pub(super) const STREAM_DEPTH: u32 = 96;
/// Fraction (one in `PEAK_PART`) of time and bytes for each peak load.
const PEAK_PART: u64 = 12;
const PEAK_REQUESTS_MAX: u64 = 15_000;
/// Read rate below which fewer cells are measured for longer.
const SLOW_READS_PER_S: f64 = 2000.0;
/// Most bytes written.
const WRITE_BYTES_MAX: u64 = 32 << 30;

/// Shortest time of a cell. With less it has a single slice, which has no spread.
const TWO_SLICES: Nanos = Nanos(2 * SLICE_MIN.0);
/// Share of the write limit that is planned for, since random arrivals can exceed the expected
/// number.
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
        let time = Nanos(lab.time_left().0 / PEAK_PART);
        let most_reads =
            PeakLoad { operation: OperationKind::Read, queue_depth: PEAK_DEPTH, block_bytes, time };
        findings.read_iops_max = most_reads.measure(lab, &mut seeds)?;
        preconditioning::precondition(lab, &mut seeds)?;
        let queue_depth = if is_slow(findings) { PEAK_DEPTH_SLOW } else { PEAK_DEPTH };
        let most_writes = PeakLoad { operation: OperationKind::Write, queue_depth, block_bytes, time };
        findings.write_iops_max = most_writes.measure(lab, &mut seeds)?;
        if findings.write_iops_max <= 0.0 || findings.read_iops_max <= 0.0 {
            lab.cut_short("the peak rate of reads or writes could not be measured");
            return Ok(());
        }
        let time = time_for(lab, findings);
        let cleans = preconditioning::cleans(lab);
        let Some(mut cells) = cells(findings, time, cleans) else {
            let reason = if time < lab.time_left() {
                "the write limit is too low to measure writes beside reads; give a larger --write-limit"
                    .into()
            } else {
                format!(
                    "writes are too slow ({:.1} per second at most) to be measured beside reads in this time; give a \
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

/// Single load that is run for its peak rate.
struct PeakLoad {
    operation: OperationKind,
    queue_depth: u32,
    block_bytes: u64,
    time: Nanos,
}

impl PeakLoad {
    /// Measures the peak request rate. It runs twice and returns the second result, when a cache
    /// that absorbs writes is full. If the first run has used up the time, its result is returned.
    fn measure(&self, lab: &mut Lab<'_>, seeds: &mut Seeds) -> Result<f64, LoadError> {
        let &Self { operation, queue_depth, block_bytes, time } = self;
        lab.report(&format!("peak rate of {operation}s"));
        let ends = lab.now() + time;
        let allowed =
            if operation == OperationKind::Write { lab.write_left_bytes() / PEAK_PART } else { u64::MAX };
        let bytes = allowed.min(PEAK_REQUESTS_MAX * block_bytes);
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

/// Returns true if a modelled drive reaches the limit of requests of a cell before the cell's
/// shortest time.
fn is_fast(findings: &InterferenceMap) -> bool {
    findings.read_iops_max * CELL_TIME_MIN.as_secs_f64() > LONG_SLICES.0 as f64 * cell::MODELLED_REQUESTS_MAX
}

/// Time for all cells: the remaining time, or less if the write limit is reached sooner.
fn time_for(lab: &mut Lab<'_>, findings: &InterferenceMap) -> Nanos {
    let share = WRITE_SHARES.iter().sum::<f64>() / WRITE_SHARES.len() as f64;
    let bytes_per_s = share * findings.write_iops_max * findings.write_block_bytes as f64;
    let seconds = BYTES_KEPT_TO * lab.write_left_bytes() as f64 / bytes_per_s;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let writing = Nanos((seconds * 1e9) as u64);
    lab.time_left().min(writing)
}

/// Largest map with enough writes in each cell; `None` if even the smallest map is too large.
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

/// Quantile of a histogram with at least ten observations beyond it.
fn quantile_ns(latency_ns: &Latencies, quantile: f64) -> Option<f64> {
    let beyond = latency_ns.len() as f64 * (1.0 - quantile);
    (beyond >= 9.999).then(|| latency_ns.value_at_quantile(quantile) as f64)
}
