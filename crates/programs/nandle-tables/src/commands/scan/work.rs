//! Runs a scan and measures the processor time of each step.

use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use nandle_columns::{BatchDecoder, ColumnsError, DirectBytes, ScanPlan, StepBytes, StepData, StreamedBytes};
use nandle_predict::next_of;
use nandle_reads::{Estimate, ReadCounts, StepStream};
use nandle_session::Cancel;
use nandle_terminal::cpu;

use super::args::RowFormat;
use super::rows::RowWriter;
use crate::decode::{Ahead, Fewer};
use crate::error::CliError;

/// Row groups sampled to measure the cost of a row, since the contents of a table vary from start
/// to end.
const SAMPLED_GROUPS: usize = 3;
/// Steps per sample: as many as in a typical row group, since its first step decodes the
/// dictionaries for all.
const SAMPLED_STEPS: usize = 8;
/// Repetitions.
const CALIBRATIONS: usize = 5;

/// Processor time to decode a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowCost {
    pub(super) ns_per_row: Estimate,
    /// Sampled steps.
    pub(super) steps: usize,
    /// Sampled row groups.
    pub(super) groups: usize,
}

impl RowCost {
    /// Reads steps near the start, in the middle and near the end, then decodes and formats them
    /// without output.
    pub(super) fn measure(plan: &ScanPlan, format: RowFormat) -> Result<Self, CliError> {
        let groups = sampled_groups(plan.groups());
        let steps: Vec<u32> = groups.iter().flat_map(|group| sampled_steps(plan, *group)).collect();
        let rows: u64 = steps.iter().map(|step| plan.candidate_rows_of(*step)).sum();
        let mut times_ns = Vec::with_capacity(CALIBRATIONS);
        for _ in 0..CALIBRATIONS {
            let mut spent_ns = 0;
            for group in &groups {
                spent_ns += decode_ns(plan, *group, format)?;
            }
            times_ns.push(spent_ns as f64 / rows.max(1) as f64);
        }
        Ok(Self { ns_per_row: next_of(&times_ns), steps: steps.len(), groups: groups.len() })
    }
}

/// The middle row group of each third of a plan's.
fn sampled_groups(groups: usize) -> Vec<usize> {
    let parts = groups.min(SAMPLED_GROUPS);
    (0..parts).map(|part| groups * (2 * part + 1) / (2 * parts)).collect()
}

fn sampled_steps(plan: &ScanPlan, group: usize) -> impl Iterator<Item = u32> {
    let is_of = move |step: &u32| plan.part_of(*step, plan.groups()) == Some(group);
    (0..).take(plan.steps()).filter(is_of).take(SAMPLED_STEPS)
}

fn decode_ns(plan: &ScanPlan, group: usize, format: RowFormat) -> Result<u64, CliError> {
    let groups = plan.groups();
    let mut steps = Ahead::read(&mut DirectBytes::of_part(plan, group, groups), SAMPLED_STEPS)?;
    let before_ns = cpu::of_thread().0;
    decode_some(BatchDecoder::of_part(plan, group, groups), &mut steps, format)?;
    Ok(cpu::of_thread().0 - before_ns)
}

/// Decodes steps and formats their rows without output. There may be fewer steps than the decoder
/// expects.
pub(super) fn decode_some(
    mut decoder: BatchDecoder<'_>,
    steps: &mut dyn StepBytes,
    format: RowFormat,
) -> Result<(), CliError> {
    let mut steps = Fewer::new(steps);
    let mut rows = RowWriter::new(std::io::sink(), format, u64::MAX);
    loop {
        match decoder.next(&mut steps) {
            Ok(Some(batch)) => rows.write(&batch).map_err(printing)?,
            Ok(None) => return Ok(()),
            Err(_) if steps.is_exhausted() => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Measurements of a scan.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) time: Duration,
    /// Processor time of each step, once its bytes were read.
    pub(super) cpu_after_ns: Vec<u64>,
    pub(super) rows: u64,
    pub(super) counts: ReadCounts,
    /// True if all rows were read; false if a limit ended the scan.
    pub(super) is_whole: bool,
    /// True if the output was closed early.
    pub(super) is_left: bool,
}

/// Passes steps on, and records the processor time between them.
struct Timed<'a, T> {
    bytes: StreamedBytes<'a>,
    cancel: &'a Cancel,
    /// Receives the number of steps.
    told: T,
    cpu_after_ns: Vec<u64>,
    since_ns: Option<u64>,
}

impl<T: FnMut(u32)> StepBytes for Timed<'_, T> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        // Steps without a matching row produce no batch, and there may be no others.
        if self.cancel.is_cancelled() {
            return Err(ColumnsError::Stopped);
        }
        self.end_step();
        (self.told)(u32::try_from(self.cpu_after_ns.len()).unwrap_or(u32::MAX));
        let step = self.bytes.next_step()?;
        self.since_ns = step.as_ref().map(|_| cpu::of_thread().0);
        Ok(step)
    }
}

impl<T> Timed<'_, T> {
    fn end_step(&mut self) {
        self.cpu_after_ns.extend(self.since_ns.take().map(|since_ns| cpu::of_thread().0 - since_ns));
    }
}

/// Decodes and prints all rows, or only up to the limit if `may_end`.
pub(super) fn run<W: Write>(
    plan: &ScanPlan,
    stream: impl FnOnce() -> StepStream,
    mut rows: RowWriter<W>,
    may_end: bool,
    cancel: &Cancel,
    told: impl FnMut(u32),
) -> Result<Run, CliError> {
    let began = Instant::now();
    let stream = StreamedBytes::new(plan, stream());
    let mut bytes = Timed { bytes: stream, cancel, told, cpu_after_ns: Vec::new(), since_ns: None };
    let mut decoder = BatchDecoder::new(plan);
    let (mut count, mut is_whole, mut is_left) = (0_u64, true, false);
    while let Some(batch) = decoder.next(&mut bytes).map_err(stopped)? {
        count += batch.num_rows() as u64;
        is_left = !print(&mut rows, &batch)?;
        if is_left || may_end && rows.is_full() {
            is_whole = false;
            break;
        }
    }
    bytes.end_step();
    let counts = bytes.bytes.stream().counts();
    let finished = rows.finish(plan.schema());
    finished.or_else(is_no_error).map_err(printing)?;
    Ok(Run {
        time: began.elapsed(),
        cpu_after_ns: bytes.cpu_after_ns,
        rows: count,
        counts,
        is_whole,
        is_left,
    })
}

fn stopped(error: ColumnsError) -> CliError {
    match error {
        ColumnsError::Stopped => CliError::interrupted("interrupted; a scan keeps nothing"),
        error => error.into(),
    }
}

/// Returns false if the output is closed.
fn print<W: Write>(rows: &mut RowWriter<W>, batch: &RecordBatch) -> Result<bool, CliError> {
    match rows.write(batch) {
        Ok(()) => Ok(true),
        Err(error) => is_no_error(error).map(|()| false).map_err(printing),
    }
}

/// A closed output pipe (`| head`) is no error.
fn is_no_error(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn printing(error: std::io::Error) -> CliError {
    CliError::failed(format!("writing rows to standard output: {error}"))
}
