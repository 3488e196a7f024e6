//! *What does a discard cost?*
//!
//! Discards of one block to 16 MiB, each of a place that holds data, in a range of at most 256 MiB
//! at the end of the area. Random reads elsewhere are measured alone and right after a discard of 1
//! MiB. In a file, a discard punches a hole, which includes the file system's work. At the end the
//! range is rewritten, so that later experiments find data everywhere.

use std::ops::Range;

use nandle_io::{Buffer, Completion, Nanos, Operation};
use nandle_profile::experiments::{DiscardCost, DiscardCosts};
use nandle_profile::{Conducted, Experiments};
use nandle_units::format_bytes;

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{Contents, Latencies, LoadError};
use crate::pattern::{Generator, below, generator};

/// See the [module](self).
pub(super) struct DiscardTimes;

const SIZES: [u64; 4] = [4 << 10, 64 << 10, 1 << 20, 16 << 20];
const RANGE_BYTES_MAX: u64 = 256 << 20;
/// Largest fraction (one in `RANGE_PART`) of the area for the range.
const RANGE_PART: u64 = 4;
/// Most observations of a size. A 99th percentile needs a thousand.
const DISCARDS_MAX: u64 = 1000;
const READ_BYTES: u64 = 4 << 10;
const READS_MAX: u64 = 1000;
const BESIDE_BYTES: u64 = 1 << 20;
/// Fraction (one in `FILL_PART`) of the time for rewriting the range.
const FILL_PART: u64 = 3;
/// Smallest number of writes, regardless of time.
const CHUNKS_MIN: u64 = 32;
/// Bytes of one write that refills the range.
const CHUNK_BYTES: u64 = 1 << 20;

impl Experiment for DiscardTimes {
    type Findings = DiscardCosts;

    fn name(&self) -> &'static str {
        "discard"
    }

    fn question(&self) -> &'static str {
        "What does a discard cost?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !(circumstances.shape.discards && circumstances.shape.writable) {
            return Err("the device supports no discards".into());
        }
        let (_, bytes) = range(circumstances.area_bytes, u64::MAX);
        if bytes < BESIDE_BYTES {
            return Err(format!("it needs an area of at least {}", format_bytes(RANGE_PART * BESIDE_BYTES)));
        }
        let (time_least, time_wanted) = (Nanos::from_secs(2), Nanos::from_secs(20));
        Ok(Cost { time_least, time_wanted, write_bytes_max: bytes + CHUNK_BYTES })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<DiscardCosts>> {
        &mut experiments.discard
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut DiscardCosts) -> Result<(), LoadError> {
        let (start_bytes, bytes) = range(lab.circumstances.area_bytes, writable(lab)?);
        if bytes < BESIDE_BYTES {
            lab.cut_short(
                "the write limit is too low to rewrite the discarded range; give a larger --write-limit",
            );
            return Ok(());
        }
        let discarded = discard_and_read(lab, start_bytes, bytes, findings);
        // The range must hold data again in any case, but after a failure nothing more may be
        // written.
        if matches!(discarded, Ok(()) | Err(LoadError::Cancelled)) {
            fill_again(lab, start_bytes, bytes)?;
        }
        discarded
    }
}

/// Bytes that may be written to the range within the limits of bytes and time.
fn writable(lab: &mut Lab<'_>) -> Result<u64, LoadError> {
    let left_bytes = lab.write_left_bytes();
    if left_bytes < 2 * CHUNK_BYTES {
        return Ok(left_bytes);
    }
    let chunk = chunk(lab)?;
    let end_bytes = lab.circumstances.area_bytes / CHUNK_BYTES * CHUNK_BYTES;
    let took = lab.once(Operation::write(end_bytes.saturating_sub(CHUNK_BYTES), chunk))?;
    lab.count_written(CHUNK_BYTES);
    let chunks_in_time = (lab.time_left().0 / FILL_PART / took.0.max(1)).max(CHUNKS_MIN);
    Ok(lab.write_left_bytes().min(chunks_in_time.saturating_mul(CHUNK_BYTES)))
}

/// Start and length of the discarded range at the end of the area, in whole chunks.
fn range(area_bytes: u64, write_left_bytes: u64) -> (u64, u64) {
    let bytes = RANGE_BYTES_MAX.min(area_bytes / RANGE_PART).min(write_left_bytes);
    let bytes = bytes - bytes % CHUNK_BYTES;
    let end_bytes = area_bytes - area_bytes % CHUNK_BYTES;
    (end_bytes - bytes, bytes)
}

/// Runs the discards and reads. Each size has its own part of the range, so that every discard
/// finds data. The largest size gets the rest.
fn discard_and_read(
    lab: &mut Lab<'_>,
    start_bytes: u64,
    bytes: u64,
    findings: &mut DiscardCosts,
) -> Result<(), LoadError> {
    let time = Nanos(lab.time_left().0 / (SIZES.len() as u64 + 3));
    let part_bytes = (bytes / 5).next_multiple_of(CHUNK_BYTES);
    let end_bytes = start_bytes + bytes;
    let alone = reads(lab, start_bytes, 0..0, time)?;
    let beside = reads(lab, start_bytes, start_bytes..start_bytes + part_bytes, time)?;
    findings.read_latency_alone_ns = alone.summary();
    findings.read_latency_beside_ns = beside.summary();
    let mut next_bytes = start_bytes + part_bytes;
    for discard_bytes in SIZES {
        let most_bytes = (DISCARDS_MAX * discard_bytes).next_multiple_of(CHUNK_BYTES);
        let is_last = SIZES.last() == Some(&discard_bytes);
        let until_bytes =
            if is_last { end_bytes } else { (next_bytes + most_bytes.min(part_bytes)).min(end_bytes) };
        let until = lab.now() + time;
        findings.discards.extend(discards(lab, next_bytes..until_bytes, discard_bytes, until)?);
        next_bytes = until_bytes;
    }
    Ok(())
}

/// Discards consecutive pieces of a range; `None` if the range is smaller than one piece.
fn discards(
    lab: &mut Lab<'_>,
    range: Range<u64>,
    discard_bytes: u64,
    until: Nanos,
) -> Result<Option<DiscardCost>, LoadError> {
    lab.report(&format!("discards of {}", format_bytes(discard_bytes)));
    let mut latency_ns = Latencies::new();
    for number in 0..((range.end - range.start) / discard_bytes).min(DISCARDS_MAX) {
        if number > 0 && lab.now() >= until {
            break;
        }
        let offset_bytes = range.start + number * discard_bytes;
        let took = lab.once(Operation::Discard { offset_bytes, length_bytes: discard_bytes })?;
        latency_ns.record(took.0);
    }
    let mean_ns = latency_ns.mean().max(1.0);
    Ok((!latency_ns.is_empty()).then(|| DiscardCost {
        discard_bytes,
        observations: latency_ns.len(),
        bandwidth_bytes_per_s: discard_bytes as f64 * 1e9 / mean_ns,
        latency_ns: latency_ns.summary(),
    }))
}

/// Random reads before the range. Each follows a discard of a piece of `discarded`, unless that is
/// empty.
fn reads(
    lab: &mut Lab<'_>,
    before_bytes: u64,
    discarded: Range<u64>,
    time: Nanos,
) -> Result<Latencies, LoadError> {
    let until = lab.now() + time;
    let mut generator = generator(lab.seed, 61);
    let mut latency_ns = Latencies::new();
    let mut done: Vec<Completion> = Vec::new();
    let count =
        if discarded.is_empty() { READS_MAX } else { (discarded.end - discarded.start) / BESIDE_BYTES };
    for number in 0..count.min(READS_MAX) {
        if number > 0 && lab.now() >= until {
            break;
        }
        let offset_bytes = discarded.start + number * BESIDE_BYTES;
        let discard = Operation::Discard { offset_bytes, length_bytes: BESIDE_BYTES };
        let mut operations = if discarded.is_empty() { Vec::new() } else { vec![discard] };
        operations.push(read(lab, before_bytes, &mut generator)?);
        lab.lane.run_all(operations, &mut done, lab.cancel)?;
        for completion in &done {
            if let Err(error) = &completion.result {
                return Err(LoadError::AllFailed { requests: 1, first: error.to_string() });
            }
            if matches!(completion.operation, Operation::Read { .. }) {
                latency_ns.record(completion.completed_at.since(completion.submitted_at).0);
            }
        }
    }
    Ok(latency_ns)
}

fn read(lab: &Lab<'_>, before_bytes: u64, generator: &mut Generator) -> Result<Operation, LoadError> {
    let memory = |source| LoadError::Memory { queue_depth: 1, block_bytes: READ_BYTES, source };
    let length = usize::try_from(READ_BYTES).unwrap_or(usize::MAX);
    let into = lab.lane.arena().allocate(length).map_err(memory)?;
    Ok(Operation::read(below(generator, before_bytes / READ_BYTES) * READ_BYTES, into))
}

/// Rewrites the start of the range, and flushes.
fn fill_again(lab: &mut Lab<'_>, start_bytes: u64, bytes: u64) -> Result<(), LoadError> {
    lab.report("rewriting the discarded range");
    let chunk = chunk(lab)?;
    for offset_bytes in (start_bytes..start_bytes + bytes).step_by(1 << 20) {
        if !lab.may_write(CHUNK_BYTES) {
            return Ok(());
        }
        lab.once(Operation::write(offset_bytes, chunk.clone()))?;
        lab.count_written(CHUNK_BYTES);
    }
    lab.flush().map(|_| ())
}

fn chunk(lab: &Lab<'_>) -> Result<Buffer, LoadError> {
    let memory = |source| LoadError::Memory { queue_depth: 1, block_bytes: CHUNK_BYTES, source };
    let length = usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX);
    let mut chunk = lab.lane.arena().allocate(length).map_err(memory)?;
    Contents::new(lab.seed).fill(0, &mut chunk);
    Ok(chunk.freeze())
}
