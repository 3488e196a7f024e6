//! `nandle scan`.

mod args;
pub(crate) mod files;
pub(crate) mod forecast;
pub(crate) mod host;
mod paths;
mod pilot;
mod record;
mod rows;
mod text;
mod work;

use std::collections::BTreeMap;
use std::time::Instant;

use nandle_columns::ScanPlan;
use nandle_reads::Plan;
use nandle_reads::recording::Names;
use nandle_session::{Cancel, Observer, Progress};
use serde::Serialize;

use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, RECORDING};
use nandle_terminal::words::{counted, seconds};

use self::args::RowFormat;
pub(crate) use self::args::ScanArgs;
use self::files::OpenFiles;
use self::forecast::{Forecast, by_length, forecasts};
use self::paths::{OpenedPath, PathForecast, choose};
use self::rows::RowWriter;
use self::work::{RowCost, Run};
use crate::error::CliError;
use crate::input::Input;

/// Explanation of a scan before it runs.
#[derive(Debug, Serialize)]
struct Explanation {
    schema_version: u32,
    input: String,
    path: String,
    /// Forecast of each path, if there are several.
    paths: Vec<PathForecast>,
    columns: Vec<String>,
    rows: u64,
    candidate_rows: u64,
    steps: u64,
    reads: String,
    /// Number of requests by length in bytes.
    requests_by_bytes: BTreeMap<u64, u64>,
    costs: String,
    /// Origin of processor times.
    processor: String,
    cpu_ns_per_row: Option<f64>,
    world: &'static str,
    direct: bool,
    remarks: Vec<String>,
    /// Notes that matter even to readers of the rows alone.
    #[serde(skip)]
    notes: Vec<String>,
    /// The chosen strategy, then the others.
    forecasts: Vec<Forecast>,
    actual: Option<Actual>,
    /// Time since opening, including all calibration.
    elapsed_s: f64,
}

/// Measurements of a scan.
#[derive(Debug, Clone, Serialize)]
struct Actual {
    rows: u64,
    time_s: f64,
    cpu_s: f64,
    requests: u64,
    read_bytes: u64,
    wanted_bytes: u64,
    urgent_requests: u64,
    urgent_bytes: u64,
    /// True if all rows were read, not only those to print.
    is_whole: bool,
}

impl From<&Run> for Actual {
    fn from(run: &Run) -> Self {
        Self {
            rows: run.rows,
            time_s: run.time.as_secs_f64(),
            cpu_s: run.cpu_after_ns.iter().sum::<u64>() as f64 / 1e9,
            requests: run.counts.requests,
            read_bytes: run.counts.read_bytes,
            wanted_bytes: run.counts.wanted_bytes,
            urgent_requests: run.counts.urgent_requests,
            urgent_bytes: run.counts.urgent_bytes,
            is_whole: run.is_whole,
        }
    }
}

/// A scan ready to run.
struct Prepared {
    input: Input,
    plan: ScanPlan,
    opened: OpenFiles,
    reads: std::sync::Arc<Plan>,
}

pub(crate) fn run(args: &ScanArgs, common: Common) -> Result<(), CliError> {
    let format = args.format(common.json);
    if common.json && format != RowFormat::None {
        return Err(CliError::usage(
            "--json prints what the scan took as JSON; rows as JSON are --format json",
        ));
    }
    if let Some(path) = &args.record {
        result_file::check(path, &RECORDING)?;
    }
    let cancel = cancel_on_signals()?;
    let began = Instant::now();
    let mut bar = Bar::new(!common.no_progress);
    let (prepared, mut explanation) = prepare(args, format, common.json, &cancel, &mut bar)?;
    if args.explain && !common.json {
        explain(&bar, format, &text::before(&explanation))?;
    }
    let ran = execute(args, &prepared, format, &cancel, &mut bar);
    bar.finish();
    let ran = ran.map_err(|error| error_of(&prepared.input, error))?;
    let actual = Actual::from(&ran);
    match &args.record {
        Some(path) if ran.is_left => output::note(&format!(
            "{}: there is no recording, because the reader of the rows went away before the scan's end.",
            path.display()
        )),
        Some(path) => {
            let names = if args.anonymous { Names::Left } else { Names::Kept };
            let text = query_text(args);
            record::write(path, &prepared.plan, &prepared.opened.files, (&text, names), &ran)?;
            output::note(&format!("recording: {}", path.display()));
        }
        None => {}
    }
    if common.json {
        explanation.actual = Some(actual);
        explanation.elapsed_s = began.elapsed().as_secs_f64();
        return Ok(output::json(&explanation)?);
    }
    let remarks = if args.explain { &explanation.remarks } else { &explanation.notes };
    let after = text::after(&explanation, &actual, remarks);
    if args.explain && format == RowFormat::None { Ok(output::result(&after)?) } else { tell(&after) }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside what prints a result")]
fn tell(text: &str) -> Result<(), CliError> {
    output::note(text.trim_end());
    Ok(())
}

fn error_of(input: &Input, error: CliError) -> CliError {
    match &input.table {
        Some(table) => error.of(&table.display()),
        None => error,
    }
}

/// Prints an explanation; to standard output if no rows are printed.
fn explain(bar: &Bar, format: RowFormat, text: &str) -> Result<(), CliError> {
    if format == RowFormat::None {
        return Ok(output::result(text)?);
    }
    bar.remark(text.trim_end());
    Ok(())
}

fn prepare(
    args: &ScanArgs,
    format: RowFormat,
    json: bool,
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<(Prepared, Explanation), CliError> {
    let input = Input::open(&args.input)?;
    let spec = args.spec(&input.snapshot);
    // Unknown columns are refused before the directory is probed.
    input.snapshot.scan(&spec).map_err(|error| error_of(&input, error.into()))?;
    let found = args.profile.find(input.kept_profile().as_deref(), &input.directory(), cancel, bar)?;
    let is_told = args.explain || json && !args.no_prediction;
    let (opened_path, paths) = choose(args, &input, &spec, &found, (format, is_told))?;
    let OpenedPath { name: path, rows, plan, opened, costs, missing, reads, cpu } = opened_path;
    let mut notes: Vec<String> = found.of_another.clone().into_iter().collect();
    notes.extend(through_the_cache(args, &opened)?);
    let mut remarks = notes.clone();
    remarks.extend(opened.beside.map(|beside| format!("{beside}.")));
    remarks.extend(opened.backend.stepped_down.iter().map(|why| format!("{why}.")));
    remarks.extend(missing);
    if plan.files().iter().any(|file| file.sums().is_none()) {
        remarks.push("Of these files no sums are kept: damage shows only where their writer made checksums of pages; `nandle table adopt` makes sums of what is there.".to_owned());
    }
    let forecasts = cpu
        .as_ref()
        .filter(|_| is_told)
        .map(|cpu| forecasts(args, &plan, &opened.plan_files(), &costs, &reads, cpu));
    let explanation = Explanation {
        schema_version: 1,
        input: input.name(),
        path,
        paths,
        columns: spec.columns,
        rows,
        candidate_rows: plan.candidate_rows(),
        steps: plan.steps() as u64,
        reads: args.reads.to_string(),
        requests_by_bytes: by_length(&reads),
        costs: found.origin,
        processor: cpu.as_ref().map_or_else(String::new, |cpu| processor(cpu.row)),
        cpu_ns_per_row: cpu.as_ref().map(|cpu| cpu.row.ns_per_row.value),
        world: opened.backend.name,
        direct: opened.buffered.is_none(),
        remarks,
        notes,
        forecasts: forecasts.transpose()?.unwrap_or_default(),
        actual: None,
        elapsed_s: 0.0,
    };
    Ok((Prepared { input, plan, opened, reads }, explanation))
}

fn processor(cost: RowCost) -> String {
    let nanos = cost.ns_per_row.map(|nanos| nanos / 1e9);
    format!(
        "Processor time is {} a row ({} to {}), measured by decoding {} of {} five times beforehand.",
        seconds(nanos.value),
        seconds(nanos.low),
        seconds(nanos.high),
        counted(cost.steps as u64, "step"),
        counted(cost.groups as u64, "row group")
    )
}

/// Sentence if reads don't reach the device.
fn through_the_cache(args: &ScanArgs, opened: &OpenFiles) -> Result<Option<String>, CliError> {
    match &opened.buffered {
        Some(reason) if args.cold => Err(CliError::failed(format!(
            "--cold: reads go through the page cache here ({reason}), which may hold what is read; put the data on another file system, or leave the option out"
        ))),
        Some(reason) => {
            Ok(Some(format!("Reads go through the page cache, which may hold what is read: {reason}.")))
        }
        None => Ok(None),
    }
}

fn execute(
    args: &ScanArgs,
    prepared: &Prepared,
    format: RowFormat,
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<Run, CliError> {
    let Prepared { plan, opened, reads, .. } = prepared;
    let stream = || opened.owner.scan(opened.files.clone(), reads.clone(), args.copies_bytes());
    let rows = RowWriter::new(output::rows(), format, args.limit(format));
    let may_end = format != RowFormat::None && !args.explain && args.record.is_none();
    let steps = plan.steps().max(1) as f64;
    bar.begin_stage();
    work::run(plan, stream, rows, may_end, cancel, |step| {
        bar.progress("reading", f64::from(step) / steps);
    })
}

/// Text of the query for a recording.
fn query_text(args: &ScanArgs) -> String {
    let columns = if args.columns.is_empty() { "all".to_owned() } else { args.columns.join(",") };
    let predicates: Vec<String> = args.predicates().map(ToString::to_string).collect();
    if predicates.is_empty() { columns } else { format!("{columns} where {}", predicates.join(" and ")) }
}
