//! Paths `scan` and `projection`, run for real: with direct I/O, and the processor time of each
//! step.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use nandle_columns::{ColumnsError, ScanPlan, ScanSpec, Snapshot};
use nandle_flights::{
    CountError, Counting, CubeError, CubeQuery, CubeReads, CubeRun, TemporarySpace, scan_cube, sorted_cube,
};
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceFile, FileOptions, FileWorld, Nanos};
use nandle_predict::next_of;
use nandle_reads::recording::{Names, Recorder, Recording};
use nandle_reads::{Estimate, HostCosts, PlanOptions, ReadCosts};
use nandle_session::{Cancel, Observer};
use nandle_spill::{Place, SpillCosts, SpillError};
use nandle_terminal::cpu;

use super::rows::{RowSource, names};
use super::{Actual, Cube, CubesArgs, Recorded, check};
use crate::commands::scan::files::OpenFiles;
use crate::commands::scan::host::{self, Host, Ratios};
use crate::error::CliError;
use crate::input::Input;

/// Divisor of memory for reads, and for data that waits to be decoded.
const READS_PART: u64 = 8;
const READS_BYTES_MAX: u64 = 64 << 20;
/// Requests in flight to temporary space.
const SLOTS: u32 = 256;

/// Costs for planning and prediction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs<'a> {
    pub(super) reads: &'a ReadCosts,
    pub(super) host: HostCosts,
}

/// Time of cubes besides reading and counting, measured beforehand.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Time to open the files and start the reading thread.
    opening_s: Estimate,
    /// Ratios of reading alone at first, then of the cubes that ran.
    ratios: Ratios,
}

/// Repetitions for measuring the time of opening.
const OPENINGS: usize = 5;

/// Runs the cubes one after the other.
pub(super) fn run(
    args: &CubesArgs,
    input: &Input,
    source: RowSource,
    queries: &[CubeQuery],
    costs: Costs<'_>,
    cancel: &Cancel,
    progress: &mut dyn Observer,
) -> Result<Recorded, CliError> {
    let rows = queries.iter().map(|query| source.of(input, *query));
    let rows: Vec<Snapshot> = rows.collect::<Result<_, _>>()?;
    let cubes: Vec<(CubeQuery, &Snapshot)> = queries.iter().copied().zip(&rows).collect();
    let mut recording = Recording { files: Vec::new(), queries: Vec::new() };
    // By a cube that reads much: for a small one the start dominates.
    let largest = cubes.iter().max_by_key(|(query, _)| query.partners());
    let (costs, mut seen) = match largest.filter(|_| !args.no_prediction) {
        Some((query, rows)) => {
            let Host { costs: host, ratios } = measured_host(args, input, rows, *query, costs)?;
            let opening_s = measured_opening(args, input, rows, *query)?;
            (Costs { host, ..costs }, Some(Seen { opening_s, ratios }))
        }
        None => (costs, None),
    };
    let mut ran = Vec::new();
    for (number, (query, rows)) in cubes.into_iter().enumerate() {
        check(cancel)?;
        progress.progress(&query.to_string(), number as f64 / queries.len() as f64);
        let began = Instant::now();
        let run = one(args, input, source, rows, query, costs)?;
        ran.push(cube(&run, seen.as_mut(), began.elapsed().as_secs_f64()));
        recording.queries.push(source.record(rows, run.recorded(), &mut recording.files));
    }
    Ok(Recorded { name: source.name().to_owned(), cubes: ran, recording })
}

fn cube(run: &CubeRun, seen: Option<&mut Seen>, time_s: f64) -> Cube {
    let sum = |figure: fn(&nandle_reads::Prediction) -> f64| run.predictions.iter().map(figure).sum::<f64>();
    // Results follow the last read.
    let results_s = run.results_cpu().0 as f64 * 1e-9;
    Cube {
        name: run.query.to_string(),
        query: run.query,
        partners: run.query.partners(),
        result_rows: run.count.groups,
        wanted_bytes: run.wanted_bytes,
        spilled_bytes: run.count.spilled_bytes,
        cpu_s: run.cpu().0 as f64 * 1e-9,
        share_of_jumps: None,
        actual: Some(Actual {
            time_s,
            requests: run.requests,
            read_bytes: run.read_bytes,
            depth_max: run.depth_max,
            predicted: seen.map(|Seen { opening_s, ratios }| {
                let counting_s = Estimate {
                    value: sum(|of| of.seconds.value) + results_s,
                    low: sum(|of| of.seconds.low) + results_s,
                    high: sum(|of| of.seconds.high) + results_s,
                };
                let predicted = *opening_s + counting_s;
                let bounds = ratios.applied_to(predicted).into();
                ratios.saw(time_s, predicted.value);
                bounds
            }),
        }),
        targets: std::collections::BTreeMap::new(),
    }
}

fn open(
    args: &CubesArgs,
    input: &Input,
    rows: &Snapshot,
    query: CubeQuery,
) -> Result<(ScanPlan, OpenFiles), CliError> {
    let of = |error: ColumnsError| CliError::from(error).of(&input.name());
    let plan = rows.scan(&ScanSpec::of(names(query))).map_err(of)?;
    let opened = OpenFiles::open(input, &plan, args.io.into())?;
    Ok((plan, opened))
}

/// Plan options, and memory for copies.
pub(super) fn plan_options(args: &CubesArgs) -> (PlanOptions, u64) {
    let reads_bytes = (args.memory() / READS_PART).min(READS_BYTES_MAX);
    (PlanOptions { strategy: args.reads, ..PlanOptions::new(reads_bytes) }, reads_bytes)
}

/// Processor time of the reading thread, from a cube's first steps.
fn measured_host(
    args: &CubesArgs,
    input: &Input,
    rows: &Snapshot,
    query: CubeQuery,
    costs: Costs<'_>,
) -> Result<Host, CliError> {
    let (plan, opened) = open(args, input, rows, query)?;
    let (options, copies_bytes) = plan_options(args);
    host::measure(&opened, &plan, costs.reads, options, copies_bytes, costs.host)
}

fn measured_opening(
    args: &CubesArgs,
    input: &Input,
    rows: &Snapshot,
    query: CubeQuery,
) -> Result<Estimate, CliError> {
    let mut times_s = Vec::with_capacity(OPENINGS);
    for _ in 0..OPENINGS {
        let began = Instant::now();
        let opened = open(args, input, rows, query)?;
        let space = temporary(args, input)?;
        times_s.push(began.elapsed().as_secs_f64());
        drop((opened, space));
    }
    Ok(next_of(&times_s))
}

fn one(
    args: &CubesArgs,
    input: &Input,
    source: RowSource,
    rows: &Snapshot,
    query: CubeQuery,
    costs: Costs<'_>,
) -> Result<CubeRun, CliError> {
    let failed = |error: CubeError| {
        let hint = match &error {
            CubeError::Count(CountError::Spill(SpillError::Io(_))) => format!(
                "; make room in {}, or name another directory (--temporary)",
                temporary_directory(args, input).display()
            ),
            _ => String::new(),
        };
        CliError::failed(format!("{}: {query}: {error}{hint}", input.name()))
    };
    let (_, opened) = open(args, input, rows, query)?;
    let (options, reads_bytes) = plan_options(args);
    let reads = CubeReads {
        owner: &opened.owner,
        files: Arc::clone(&opened.files),
        costs: costs.reads,
        host: costs.host,
        options,
        copies_bytes: reads_bytes,
    };
    let clock = cpu::of_thread;
    if source == RowSource::Projections {
        return sorted_cube(rows, query, &reads, clock, &mut drop).map_err(failed);
    }
    let memory_bytes = usize::try_from(args.memory() - 2 * reads_bytes).unwrap_or(usize::MAX);
    let (runtime, place) = temporary(args, input)?;
    let space = TemporarySpace { handle: runtime.handle(), place, costs: SpillCosts::default() };
    let counting = Counting { memory_bytes, threads: threads(), space: Some(space) };
    runtime.block_on(async {
        let mut results = scan_cube(rows, query, &reads, counting, clock).await.map_err(failed)?;
        while results.next_batch().await.map_err(failed)?.is_some() {}
        Ok(results.finish())
    })
}

/// One thread per processor.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn temporary_directory(args: &CubesArgs, input: &Input) -> PathBuf {
    args.temporary.clone().unwrap_or_else(|| input.directory())
}

/// Temporary space for groups that exceed memory: an unnamed file, large enough for the groups of
/// all rows.
fn temporary(args: &CubesArgs, input: &Input) -> Result<(Runtime, Place), CliError> {
    let directory = temporary_directory(args, input);
    let wrong = |error: &dyn std::fmt::Display| {
        CliError::failed(format!("temporary space in {} (--temporary): {error}", directory.display()))
    };
    let length_bytes = (input.snapshot.rows() * 64).max(256 << 20).next_multiple_of(1 << 20);
    let file = tempfile::tempfile_in(&directory).map_err(|error| wrong(&error))?;
    file.set_len(length_bytes).map_err(|error| wrong(&error))?;
    let file = DeviceFile::new(file, FileOptions::default()).map_err(|error| wrong(&error))?;
    let mut world = FileWorld::new(SLOTS).map_err(|error| wrong(&error))?;
    let device = world.add(Arc::new(file)).id;
    let place = Place { device, start_bytes: 0, length_bytes, salt: 1, discards: false };
    Ok((Runtime::new(world.into_io()), place))
}

/// Serialised recording.
pub(super) fn packed(recording: &Recording) -> Result<Vec<u8>, CliError> {
    let mut recorder = Recorder::new(Vec::new(), Names::Kept)?;
    for file in &recording.files {
        recorder.file(file.name.as_deref().unwrap_or_default(), file.length_bytes, &file.groups)?;
    }
    for query in &recording.queries {
        recorder.begin_query(query.name.as_deref().unwrap_or_default(), None)?;
        let mut wants = query.wants.as_slice();
        for (step, span) in (0_u32..).zip(&query.cpu_after_ns) {
            let (now, later) = wants.split_at(wants.partition_point(|want| want.step <= step));
            recorder.step(now, Nanos(*span))?;
            wants = later;
        }
        recorder.end_query(query.totals)?;
    }
    Ok(recorder.finish()?)
}
