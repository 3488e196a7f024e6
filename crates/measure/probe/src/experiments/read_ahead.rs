//! *Does the device read ahead, after how many requests, and for how many streams?*
//!
//! Small reads, one at a time: random, and from 1 to 64 interleaved sequential streams. For a
//! stream that the device follows, the next block is already prefetched. With more streams than it
//! can follow, all of them lose their prefetched data. A second part reads short runs at random
//! positions: their first reads are slow until the device detects the stream. The experiment only
//! reads.

use nandle_io::{Nanos, Operation};
use nandle_profile::experiments::{ReadAhead, StreamCost};
use nandle_profile::{Conducted, Experiments, Interval, OperationKind};

use super::rounds::{Requests, Rounds, SLICE_MAX, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{Latencies, LoadError};
use crate::pattern::{Area, Partitioned, Pattern, Random, below, generator};

/// See the [module](self).
pub(super) struct ReadAheadSearch;

const BLOCK_BYTES: u64 = 4 << 10;
/// Numbers of streams in the first search; 0 means random reads.
const STREAMS: [u64; 8] = [0, 1, 2, 4, 8, 16, 32, 64];
/// Longest stream. In a small area streams are shorter.
const STREAM_BYTES_MAX: u64 = 8 << 20;
const ROUNDS_MAX: usize = 9;
const SLICE_REQUESTS_MAX: u64 = 1500;
/// Fractions (one in …) of the time for the search between two doublings, and for runs.
const FINE_PART: u64 = 3;
const RUNS_PART: u64 = 6;
/// Reads of a run, and the most runs.
const RUN_READS: usize = 16;
const RUNS_MAX: usize = 400;
/// Smallest gain of one stream over random reads that counts as read-ahead.
const GAIN_MIN: f64 = 1.2;

impl Experiment for ReadAheadSearch {
    type Findings = ReadAhead;

    fn name(&self) -> &'static str {
        "read-ahead"
    }

    fn question(&self) -> &'static str {
        "Does the device read ahead, after how many requests, and for how many streams?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        let (time_least, time_wanted) = (Nanos::from_secs(2), Nanos::from_secs(40));
        Ok(Cost { time_least, time_wanted, write_bytes_max: 0 })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<ReadAhead>> {
        &mut experiments.read_ahead
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut ReadAhead) -> Result<(), LoadError> {
        let all = lab.time_left();
        let (fine, for_runs) = (Nanos(all.0 / FINE_PART), Nanos(all.0 / RUNS_PART));
        findings.block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        let mut seeds = Seeds::new(lab);
        measure(lab, &STREAMS, all - fine - for_runs, &mut seeds, findings)?;
        let between = between(findings);
        if !between.is_empty() {
            measure(lab, &between, fine, &mut seeds, findings)?;
        }
        findings.stream_count_max = stream_count_max(&findings.streams);
        runs(lab, for_runs, findings)
    }
}

/// Measures several numbers of streams, including random reads.
fn measure(
    lab: &mut Lab<'_>,
    streams: &[u64],
    time: Nanos,
    seeds: &mut Seeds,
    findings: &mut ReadAhead,
) -> Result<(), LoadError> {
    let block_bytes = findings.block_bytes;
    let turns = Turns { time, rounds_max: ROUNDS_MAX, slice_max: SLICE_MAX };
    let rounds = Rounds::measure(lab, streams, turns, |lab, &streams, time| {
        lab.report(&format!("{streams} streams"));
        let seed = seeds.next();
        let requests = Requests {
            operation: OperationKind::Read,
            block_bytes,
            queue_depth: 1,
            count_max: SLICE_REQUESTS_MAX.max(20 * streams),
            // Until every stream has been detected.
            first_uncounted: 8 * streams,
        };
        let pattern = pattern(area_from(lab, 0, block_bytes)?, streams, seed);
        let measured = requests.slice(lab, pattern, seed, time)?;
        Ok(Sample::requests(&measured))
    })?;
    let random = streams.iter().position(|streams| *streams == 0).unwrap_or(0);
    findings.random_iops = rounds.rate(random);
    for (number, count) in streams.iter().enumerate().filter(|(_, count)| **count > 0) {
        if let (Some(iops), Some(gain)) = (rounds.rate(number), rounds.ratio(number, random)) {
            findings.streams.push(StreamCost {
                streams: u32::try_from(*count).unwrap_or(u32::MAX),
                iops,
                gain,
            });
        }
    }
    findings.streams.sort_by_key(|cost| cost.streams);
    Ok(())
}

/// Streams from a random position, so that no slice finds another's data in a cache.
fn pattern(area: Area, streams: u64, seed: u64) -> Pattern {
    if streams == 0 {
        return Box::new(Random::new(area, seed));
    }
    let stream_blocks = (area.blocks / streams).clamp(1, STREAM_BYTES_MAX / area.block_bytes);
    let blocks = stream_blocks * streams;
    let first = below(&mut generator(seed, 3), area.blocks.saturating_sub(blocks) + 1);
    let start_bytes = area.offset_bytes(first);
    Box::new(Partitioned::new(Area { start_bytes, blocks, ..area }, streams))
}

/// Returns true if the gain is closer to that of one stream than to that of random reads.
fn is_followed(gain: f64, of_one: f64) -> bool {
    gain > of_one.sqrt()
}

fn gain_of_one(streams: &[StreamCost]) -> Option<f64> {
    let gain = streams.iter().find(|cost| cost.streams == 1)?.gain;
    (gain.value >= GAIN_MIN && gain.low > 1.0).then_some(gain.value)
}

/// Numbers of streams between the last followed number and its double, plus random reads.
fn between(findings: &ReadAhead) -> Vec<u64> {
    let Some(of_one) = gain_of_one(&findings.streams) else { return Vec::new() };
    let followed = findings.streams.iter().take_while(|cost| is_followed(cost.gain.value, of_one)).last();
    let Some(last) = followed.map(|cost| u64::from(cost.streams)) else { return Vec::new() };
    if STREAMS.last() == Some(&last) || last < 2 {
        return Vec::new();
    }
    let eighth = (last / 8).max(1);
    let steps = (1..8).map(|step| last + step * eighth).take_while(|streams| *streams < 2 * last);
    std::iter::once(0).chain(steps).collect()
}

fn stream_count_max(streams: &[StreamCost]) -> Option<Interval<u32>> {
    let of_one = gain_of_one(streams)?;
    let most = |gain: fn(&Interval<f64>) -> f64| {
        let followed = streams.iter().take_while(|cost| is_followed(gain(&cost.gain), of_one));
        followed.last().map_or(0, |cost| cost.streams)
    };
    Some(Interval {
        value: most(|gain| gain.value),
        low: most(|gain| gain.low),
        high: most(|gain| gain.high),
    })
}

/// Reads short runs at random positions, and finds the first read that was prefetched.
fn runs(lab: &mut Lab<'_>, time: Nanos, findings: &mut ReadAhead) -> Result<(), LoadError> {
    let block_bytes = findings.block_bytes;
    let ends = lab.now() + time;
    let area = area_from(lab, 0, block_bytes)?;
    let mut positions: Vec<Latencies> = (0..RUN_READS).map(|_| Latencies::new()).collect();
    let mut generator = generator(lab.seed, 47);
    for _ in 0..RUNS_MAX {
        if lab.now() >= ends {
            break;
        }
        let first = below(&mut generator, area.blocks.saturating_sub(RUN_READS as u64) + 1);
        for (position, latency_ns) in (0..).zip(&mut positions) {
            let block = (first + position) % area.blocks;
            latency_ns.record(read_one(lab, area.offset_bytes(block), block_bytes)?.0);
        }
    }
    let observed = positions.first().map_or(0, |latencies| latencies.len());
    if observed >= 20 {
        findings.latency_by_position_ns =
            positions.iter().map(|latency_ns| latency_ns.value_at_quantile(0.5)).collect();
        findings.detected_after_requests = detected_after(&findings.latency_by_position_ns);
    }
    Ok(())
}

fn read_one(lab: &mut Lab<'_>, offset_bytes: u64, block_bytes: u64) -> Result<Nanos, LoadError> {
    let length = usize::try_from(block_bytes).unwrap_or(usize::MAX);
    let memory = |source| LoadError::Memory { queue_depth: 1, block_bytes, source };
    let into = lab.lane.arena().allocate(length).map_err(memory)?;
    lab.once(Operation::read(offset_bytes, into))
}

/// Number of reads before read-ahead starts: the first read that is closer to the fastest than to
/// the first, if most later reads are fast as well.
fn detected_after(latency_by_position_ns: &[u64]) -> Option<u32> {
    let first = *latency_by_position_ns.first()? as f64;
    let quickest = *latency_by_position_ns.iter().min()? as f64;
    let bound = (first * quickest.max(1.0)).sqrt();
    let is_quick = |latency_ns: &&u64| (**latency_ns as f64) < bound;
    let after = latency_by_position_ns.iter().position(|latency_ns| is_quick(&latency_ns))?;
    let rest = latency_by_position_ns.get(after..)?;
    let most_are = 2 * rest.iter().filter(is_quick).count() > rest.len();
    let found = first >= GAIN_MIN * quickest && most_are;
    u32::try_from(after).ok().filter(|_| found)
}
