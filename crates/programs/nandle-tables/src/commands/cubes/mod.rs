//! `nandle cubes`: the 69 cubes of the Dashboard paper (papers' notes, §4), run on this machine and
//! played on models from a recording of that run.

mod args;
mod btree;
mod classes;
mod page;
mod played;
mod published;
mod rows;
mod scaled;
mod scan;
mod text;
mod turning;
mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use nandle_columns::ColumnsError;
use nandle_flights::CubeQuery;
use nandle_predict::host_costs;
use nandle_reads::recording::Recording;
use nandle_session::{Cancel, Progress};
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::progress::Bar;
use nandle_terminal::{output, result_file};
use serde::Serialize;

pub(crate) use self::args::CubesArgs;
use self::args::PathArg;
use self::played::Target;
use self::rows::RowSource;
use self::scaled::Scaling;
use self::turning::Turning;
use crate::commands::scan::forecast::Bounds;
use crate::costs::costs_of;
use crate::error::CliError;
use crate::input::Input;

/// Report of a run.
#[derive(Debug, Default, Serialize)]
struct Report {
    schema_version: u32,
    input: String,
    rows: u64,
    memory_bytes: u64,
    reads: String,
    /// From opening the table to the last result, including the play on models.
    elapsed_s: f64,
    /// `null` if memory and the models' caches aren't scaled.
    scaling: Option<Scaling>,
    remarks: Vec<String>,
    paths: Vec<PathRuns>,
    /// By page size of the B-tree; empty without models to compare.
    turning: Vec<Turning>,
}

/// Cubes on one path.
#[derive(Debug, Serialize)]
struct PathRuns {
    /// `scan`, `projection`, or `btree` with the time of index creation and the page size.
    path: String,
    /// Page size of a B-tree; otherwise `null`.
    page_bytes: Option<u64>,
    /// Devices on which it was played, in command-line order.
    targets: Vec<String>,
    cubes: Vec<Cube>,
}

/// A cube on a path.
#[derive(Debug, Serialize)]
struct Cube {
    name: String,
    #[serde(skip)]
    query: CubeQuery,
    partners: u32,
    result_rows: u64,
    wanted_bytes: u64,
    spilled_bytes: u64,
    cpu_s: f64,
    /// Share of B-tree pages that don't follow the previous one; `null` for a scan.
    share_of_jumps: Option<f64>,
    /// Result on this machine; `null` if it was only recorded.
    actual: Option<Actual>,
    /// Keyed by target as named on the command line.
    targets: BTreeMap<String, Played>,
}

/// Time of a scan on this machine.
#[derive(Debug, Serialize)]
struct Actual {
    time_s: f64,
    requests: u64,
    read_bytes: u64,
    depth_max: u32,
    /// `null` without a prediction.
    predicted: Option<Bounds>,
}

/// Time on a target.
#[derive(Debug, Serialize)]
struct Played {
    time_s: f64,
    predicted_s: f64,
    /// Processor time between the steps.
    computing_s: f64,
    requests: u64,
    read_bytes: u64,
}

pub(crate) fn run(args: &CubesArgs, common: Common) -> Result<(), CliError> {
    let (queries, specs) = (args.queries()?, args.targets()?);
    args.check_results()?;
    let cancel = cancel_on_signals()?;
    let mut bar = Bar::new(!common.no_progress);
    let began = Instant::now();
    let input = Input::open(&args.input)?;
    // Before anything is measured.
    check_columns(&input, &queries)?;
    let (targets, scaling) = scaled::targets(args, specs, input.snapshot.rows())?;
    let remarks = scaling.as_ref().map_or_else(Vec::new, |scaling| scaling.remarks(args));
    let memory_bytes = scaling.as_ref().map_or(args.memory(), |scaling| scaling.memory_bytes);
    let args = &CubesArgs { memory: Some(memory_bytes), ..args.clone() };
    let mut report = Report {
        schema_version: 1,
        input: input.name(),
        rows: input.snapshot.rows(),
        memory_bytes,
        reads: args.reads.to_string(),
        scaling,
        remarks,
        ..Report::default()
    };
    let sources = args.sources();
    if !sources.is_empty() {
        let kept = input.kept_profile();
        let found = args.profile.find(kept.as_deref(), &input.directory(), &cancel, &mut bar)?;
        let (costs, remarks) = costs_of(&found, None)?;
        report.remarks.extend(remarks);
        report.remarks.extend(found.of_another.clone());
        let costs = scan::Costs { reads: &costs, host: host_costs(&found.profile) };
        for source in sources {
            bar.begin_stage();
            let ran = scan::run(args, &input, source, &queries, costs, &cancel, &mut bar)?;
            if let Some(path) = args.record.as_ref().filter(|_| source == RowSource::Table) {
                write(path, &ran.recording)?;
            }
            report.paths.push(PathRuns {
                path: ran.name,
                page_bytes: None,
                targets: Vec::new(),
                cubes: ran.cubes,
            });
            played::add(args, &targets, &ran.recording, &cancel, &mut bar, &mut report, None)?;
        }
    }
    if args.paths.contains(&PathArg::Btree) {
        add_btrees(args, &input, &queries, &targets, &cancel, &mut bar, &mut report)?;
    }
    bar.finish();
    report.elapsed_s = began.elapsed().as_secs_f64();
    report.remarks.sort();
    report.remarks.dedup();
    if common.json {
        output::json(&report)?;
    } else {
        output::result(&text::text(&report))?;
    }
    args.report.as_ref().map_or(Ok(()), |path| page::write(path, &report))
}

/// Checks that the input has the columns of the cubes.
fn check_columns(input: &Input, queries: &[CubeQuery]) -> Result<(), CliError> {
    let schema = input.snapshot.schema();
    let mut columns = queries.iter().flat_map(|query| rows::names(*query));
    match columns.find(|column| schema.index_of(column).is_err()) {
        Some(column) => Err(ColumnsError::UnknownColumn {
            file: input.name(),
            column: column.to_owned(),
            known: schema.fields().iter().map(|field| field.name().clone()).collect(),
        }
        .into()),
        None => Ok(()),
    }
}

/// Adds B-trees of each page size, for each index.
fn add_btrees(
    args: &CubesArgs,
    input: &Input,
    queries: &[CubeQuery],
    targets: &[Target],
    cancel: &Cancel,
    bar: &mut Bar,
    report: &mut Report,
) -> Result<(), CliError> {
    for page_bytes in &args.page_size {
        let mut turning = Turning::of_pages(*page_bytes);
        for (number, index) in args.index.iter().enumerate() {
            bar.begin_stage();
            let ran = btree::run(args, input, queries, (*index).into(), *page_bytes, cancel, bar)?;
            let page_bytes = Some(*page_bytes);
            report.paths.push(PathRuns { path: ran.name, page_bytes, targets: Vec::new(), cubes: ran.cubes });
            // Another index gives the same orders of leaves.
            let turning = Some(&mut turning).filter(|_| number == 0 && targets.len() > 1);
            played::add(args, targets, &ran.recording, cancel, bar, report, turning)?;
        }
        report.turning.extend(Some(turning).filter(|turning| !turning.devices.is_empty()));
    }
    Ok(())
}

/// Returns an error after an interruption.
fn check(cancel: &Cancel) -> Result<(), CliError> {
    if cancel.is_cancelled() {
        return Err(CliError::interrupted("interrupted; cubes keep no partial results"));
    }
    Ok(())
}

/// A recording and its cubes.
struct Recorded {
    name: String,
    cubes: Vec<Cube>,
    recording: Recording,
}

fn write(path: &Path, recording: &Recording) -> Result<(), CliError> {
    result_file::write(path, &scan::packed(recording)?)?;
    output::note(&format!("recording: {}", path.display()));
    Ok(())
}
