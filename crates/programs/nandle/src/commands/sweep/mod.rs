//! `nandle sweep`.

mod keep;
mod plan;
mod space;
mod table;

use std::path::Path;

use nandle_io::{Nanos, Shape};
use nandle_probe::Observer;
use nandle_probe::load::{Arrivals, Cancel, Contents, LoadError, Refill, Stop};
use nandle_probe::sweep::{self, CellSpec, OpenLoopRate, SweepContext, SweepOptions, SweepPlan};
use nandle_profile::{Backend, Cell, SWEEP_SCHEMA_VERSION, SweepFile};
use nandle_target::{Intent, TargetSpec};
use nandle_units::{format_bytes_exact, format_duration};

use self::keep::Keeper;
use crate::args::{Common, FormatArg, SweepArgs};
use crate::error::CliError;
use crate::interrupt::cancel_on_signals;
use crate::output;
use crate::progress::Progress;
use crate::session::{Prepared, Session};

/// A run ends after this when the user says nothing.
const TIME_PER_RUN: Nanos = Nanos::from_secs(2);

/// Runs the command.
pub(crate) fn run(args: &SweepArgs, common: Common) -> Result<(), CliError> {
    let options = options(args)?;
    let keeper = Keeper::new(args)?;
    let cancel = cancel_on_signals()?;
    let session = open(args, &options, &cancel)?;
    let options = SweepOptions { outstanding_bytes_max: session.outstanding.bytes, ..options };
    check_threads(&session, options.threads)?;
    let (_, device) = session.open_io(1)?;
    let mut plan = sweep::plan(&options, &device.shape, session.target.area_bytes())
        .map_err(|error| CliError::usage(format!("{}: {error}", session.target.spec())))?;
    let deepest = plan.cells.iter().map(|spec| spec.queue_depth).max().unwrap_or(1);
    let most_bytes = plan.cells.iter().map(CellSpec::outstanding_bytes).max().unwrap_or(0);
    let mut file = SweepFile {
        schema_version: SWEEP_SCHEMA_VERSION,
        target: session.name(),
        backend: session.backend(deepest, most_bytes)?,
        file_bytes: session.target.area_bytes(),
        load: load(&options),
        seed: options.seed,
        complete: false,
        cells: Vec::new(),
        skipped: plan.skipped.clone(),
    };
    file.cells = keeper.resumed(&file)?;
    leave_out(&mut plan, &file.cells);
    if args.plan {
        return plan::print(&plan, &options, &session, common);
    }
    tell_circumstances(&session, &file.backend);
    let mut progress = Progress::new(!common.no_progress);
    let outcome = measure(&session, &options, &device.shape, &plan, &mut file, &keeper, &mut progress);
    progress.finish();
    if outcome.is_err() && file.cells.is_empty() {
        return outcome;
    }
    keeper.keep(&file)?;
    print(&file, args, common)?;
    outcome.and_then(|()| check_measured(&file))
}

/// A sweep that measured nothing has failed, whatever the reasons.
fn check_measured(file: &SweepFile) -> Result<(), CliError> {
    match file.skipped.first() {
        Some(first) if file.cells.is_empty() => Err(CliError::failed(format!(
            "{}: no cell was measured; all {} were skipped, the first because {}",
            file.target,
            file.skipped.len(),
            first.reason
        ))),
        _ => check_failures(file),
    }
}

/// Requests that failed while others were answered are in the results, and in the exit code.
fn check_failures(file: &SweepFile) -> Result<(), CliError> {
    let failing: Vec<&Cell> = file.cells.iter().filter(|cell| cell.errors > 0).collect();
    let Some(first) = failing.first() else { return Ok(()) };
    let requests: u64 = failing.iter().map(|cell| cell.errors).sum();
    let reason = first.first_error.as_deref().unwrap_or("an unknown error");
    Err(CliError::failed(format!(
        "{}: {requests} requests of {} of {} cells failed, the first with: {reason}; each cell's result says how many",
        file.target,
        failing.len(),
        file.cells.len()
    )))
}

/// Opens the target. A plan makes no file that stays: it is made where the file would be.
fn open(args: &SweepArgs, options: &SweepOptions, cancel: &Cancel) -> Result<Session, CliError> {
    let intent = if options.reads_only() { Intent::Read } else { Intent::Write };
    let mut target = args.target.clone();
    if let (true, TargetSpec::Path(path)) = (args.plan && target.overwrite, &target.target)
        && std::fs::symlink_metadata(path).is_err()
    {
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        target.target = TargetSpec::Path(parent.into());
    }
    Session::open(&target, intent, cancel)
}

/// A modelled world has one clock and one thread that submits: more threads would each have a drive of their own.
fn check_threads(session: &Session, threads: u32) -> Result<(), CliError> {
    if session.target.is_modelled() && threads > 1 {
        return Err(CliError::usage(format!(
            "{}: --threads {threads}: a modelled drive is driven by one thread of its world; leave --threads out, and \
             choose --queue-depths instead",
            session.target.spec()
        )));
    }
    Ok(())
}

/// What a reader of the figures should know beside them.
fn tell_circumstances(session: &Session, backend: &Backend) {
    for remark in session.remarks().iter().chain(&backend.stepped_down) {
        output::note(remark);
    }
}

/// Fills the target where it has to be, and runs the cells; nothing of both when there are none left.
fn measure(
    session: &Session,
    options: &SweepOptions,
    shape: &Shape,
    plan: &SweepPlan,
    file: &mut SweepFile,
    keeper: &Keeper,
    progress: &mut Progress,
) -> Result<(), CliError> {
    if plan.cells.is_empty() {
        file.complete = true;
        return Ok(());
    }
    let prepared = session.prepare_apart(None, progress)?;
    Sweep { session, options, prepared, shape }.run_all(plan, file, keeper, progress)
}

struct Sweep<'a> {
    session: &'a Session,
    options: &'a SweepOptions,
    prepared: Prepared,
    shape: &'a Shape,
}

impl Sweep<'_> {
    fn run_all(
        &self,
        plan: &SweepPlan,
        file: &mut SweepFile,
        keeper: &Keeper,
        progress: &mut Progress,
    ) -> Result<(), CliError> {
        let cells = file.cells.len() + plan.cells.len();
        let mut failed = 0_u32;
        for (number, spec) in plan.cells.iter().enumerate() {
            progress.progress(&spec.to_string(), number as f64 / plan.cells.len().max(1) as f64);
            match self.run_cell(spec, progress) {
                Ok(cell) => {
                    tell_errors(spec, &cell, progress);
                    file.cells.push(cell);
                }
                Err(LoadError::Cancelled) => return Err(interrupted(file, cells, keeper)),
                // The device is well; this one cell is beyond what the system gives.
                Err(
                    error @ (LoadError::TooDeep { .. } | LoadError::Block { .. } | LoadError::Memory { .. }),
                ) => {
                    file.skipped.push(spec.skipped(error.to_string()));
                }
                Err(error @ LoadError::AllFailed { .. }) => {
                    progress.note(&format!("{spec}: {error}"));
                    failed += 1;
                    file.skipped.push(spec.skipped(error.to_string()));
                }
                Err(error) => return Err(CliError::failed(format!("{}: {spec}: {error}", file.target))),
            }
            keeper.keep(file)?;
        }
        file.complete = true;
        if failed > 0 {
            return Err(CliError::failed(format!(
                "{}: every request of {failed} of {cells} cells failed",
                file.target
            )));
        }
        Ok(())
    }

    fn run_cell(&self, spec: &CellSpec, progress: &Progress) -> Result<Cell, LoadError> {
        let stalled = |error: &LoadError| progress.note(&format!("{spec}: {error}"));
        let open = |slots: u32| self.session.open_io(slots).map_err(|error| error.to_string());
        let context = SweepContext {
            open: &open,
            shape: self.shape,
            area_bytes: self.prepared.area_bytes,
            lane: self.session.lane_options(0),
            contents: self.contents(),
            cancel: self.cancel(),
            stalled: &stalled,
        };
        sweep::run_cell(&context, self.options, spec)
    }

    /// What a test file holds is known only while nothing else was written to it.
    fn contents(&self) -> Option<Contents> {
        self.prepared.contents.filter(|_| self.options.reads_only())
    }

    fn cancel(&self) -> &Cancel {
        &self.session.cancel
    }
}

fn options(args: &SweepArgs) -> Result<SweepOptions, CliError> {
    let space = space::of(args);
    if args.threads == 0 {
        return Err(CliError::usage("--threads 0: at least one thread must submit"));
    }
    if let Some(rate) = args.rate
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(CliError::usage(format!("--rate {rate}: expected requests per second, above 0")));
    }
    if args.rate.is_some() && args.bytes_per_run.is_some() {
        return Err(CliError::usage(
            "--rate with --bytes-per-run: arrivals go on until a time; give --time-per-run alone",
        ));
    }
    Ok(SweepOptions {
        patterns: distinct(&space.patterns),
        block_sizes: distinct(&space.block_sizes),
        group_sizes: distinct(&space.group_sizes),
        queue_depths: distinct(&space.queue_depths),
        operations: distinct(&space.operations),
        stop: space.stop.unwrap_or(Stop::after(TIME_PER_RUN)),
        refill: args.refill.into(),
        rate: args.rate.map(|per_s| OpenLoopRate { per_s, arrivals: args.arrivals.into() }),
        threads: args.threads,
        seed: args.target.seed,
        outstanding_bytes_max: args.target.outstanding_max,
    })
}

/// Each value once, in the order in which they were given.
fn distinct<T: PartialEq + Copy>(values: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(value) {
            distinct.push(*value);
        }
    }
    distinct
}

/// How each cell is loaded, in words.
fn load(options: &SweepOptions) -> String {
    let how = match (options.rate, options.refill) {
        (Some(OpenLoopRate { per_s, arrivals: Arrivals::Poisson }), _) => {
            format!("{per_s} a second, Poisson")
        }
        (Some(OpenLoopRate { per_s, arrivals: Arrivals::Fixed }), _) => format!("{per_s} a second, fixed"),
        (None, Refill::Exact) => "exact".into(),
        (None, Refill::Batched) => "batched".into(),
    };
    let threads =
        if options.threads == 1 { "1 thread".into() } else { format!("{} threads", options.threads) };
    let time = options.stop.time.map(format_duration);
    let bytes = options.stop.bytes.map(format_bytes_exact);
    let ends: Vec<String> = time.into_iter().chain(bytes).collect();
    format!("{threads}, {how}, {} a run", ends.join(" or "))
}

fn leave_out(plan: &mut SweepPlan, measured: &[Cell]) {
    plan.cells.retain(|spec| !measured.iter().any(|cell| spec.is(cell)));
}

fn tell_errors(spec: &CellSpec, cell: &Cell, progress: &Progress) {
    if let Some(unsent) = cell.unsent.filter(|unsent| *unsent > 0) {
        progress
            .note(&format!("{spec}: the device did not keep up: {unsent} requests were due and never sent"));
    }
    if let Some(first) = &cell.first_error {
        progress.note(&format!("{spec}: {} requests failed, the first with: {first}", cell.errors));
    }
}

fn interrupted(file: &SweepFile, cells: usize, keeper: &Keeper) -> CliError {
    let done = format!("interrupted after {} of {cells} cells", file.cells.len());
    CliError::interrupted(match keeper.path() {
        Some(path) => format!("{done}; go on with: {}", command_to_resume(std::env::args().skip(1), path)),
        None => done,
    })
}

/// The whole command again, with `--resume` in the place of `--output`: the file doesn't know the grid.
fn command_to_resume(arguments: impl Iterator<Item = String>, path: &Path) -> String {
    let mut words = vec!["nandle".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.split_once('=').map_or(argument.as_str(), |(name, _)| name) {
            "--output" | "--resume" if argument.contains('=') => {}
            "--output" | "--resume" => drop(arguments.next()),
            _ => words.push(quoted(&argument)),
        }
    }
    format!("{} --resume {}", words.join(" "), quoted(&path.display().to_string()))
}

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn print(file: &SweepFile, args: &SweepArgs, common: Common) -> Result<(), CliError> {
    let default = if output::is_terminal() { FormatArg::Table } else { FormatArg::Csv };
    let format = if common.json { FormatArg::Json } else { args.format.unwrap_or(default) };
    let text = match format {
        FormatArg::Table => table::table(file),
        FormatArg::Csv => crate::sweep_csv::to_csv(file).map_err(CliError::failed)?,
        FormatArg::Json => to_json(file)?,
    };
    output::result(&text)?;
    for skipped in file.skipped.iter().filter(|_| format != FormatArg::Json) {
        output::note(&format!(
            "skipped {} {} in groups of {}, depth {}: {}",
            skipped.pattern,
            nandle_units::format_bytes(skipped.block_bytes),
            skipped.group_blocks,
            skipped.queue_depth,
            skipped.reason
        ));
    }
    Ok(())
}

fn to_json(file: &SweepFile) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(file);
    text.map(|text| text + "\n").map_err(|error| CliError::failed(format!("writing JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_with_has_the_grid() {
        let given = ["sweep", "my disk", "--block-sizes", "2K,4K", "--output", "q.csv", "--rate=5"];
        let command = command_to_resume(given.into_iter().map(Into::into), Path::new("q.csv"));
        assert_eq!(command, "nandle sweep 'my disk' --block-sizes 2K,4K --rate=5 --resume q.csv");
        let again = ["sweep", ".", "--resume=q.csv"];
        let command = command_to_resume(again.into_iter().map(Into::into), Path::new("q.csv"));
        assert_eq!(command, "nandle sweep . --resume q.csv");
    }
}
