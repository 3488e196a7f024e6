//! `nandle workload`.

mod args;
mod cells;
mod devices;
mod sweep;
mod table;

use nandle_spill::SpillError;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, REPORT};
use nandle_workloads::{WORKLOAD_SCHEMA_VERSION, Workload, WorkloadError, WorkloadFile, WorkloadRun};

pub(crate) use self::args::{OperatorArg, RowArgs, WorkloadArgs, target};
pub(crate) use self::cells::{Cell, CellResult, run_cells};
pub(crate) use self::devices::{Devices, Roles};
pub(crate) use self::table::{again_in_words, again_word, fan_word, rows_in_words};
use crate::commands::report::write_report;
use crate::commands::rows::spilled;
use crate::error::CliError;

pub(crate) fn run(args: &WorkloadArgs, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.rows.report {
        result_file::check(path, &REPORT)?;
    }
    let one = args.rows.workload(args.operator);
    let workloads = sweep::workloads(one, &args.sweep)?;
    let cancel = cancel_on_signals()?;
    let (input, output) =
        (args.input.as_ref().unwrap_or(&args.temporary), args.output.as_ref().unwrap_or(&args.temporary));
    let (devices, numbers) = Devices::open(&[input, &args.temporary, output], &one, &args.rows)?;
    let [input, temporary, output] = <[usize; 3]>::try_from(numbers).unwrap_or_default();
    let roles = Roles { input: Some(input), temporary, output: Some(output) };
    let (costs, of_costs) = devices.costs(temporary, args.profile.as_deref())?;
    devices.fill(input, &one)?;
    let cell =
        |workload: &Workload| Cell { roles, workload: *workload, costs: &costs, doing: doing(workload) };
    let cells: Vec<Cell<'_>> = workloads.iter().map(cell).collect();
    let mut bar = Bar::new(!common.no_progress);
    let results = run_cells(&devices, &cells, &cancel, &mut bar)?;
    bar.finish();
    let runs = workloads.iter().zip(results).map(|(workload, result)| of(workload, result));
    let mut runs: Vec<WorkloadRun> = runs.collect();
    // A run that is refused is a row of a sweep, but an error if it is the only run.
    if let [WorkloadRun { refusal: Some(refusal), .. }] = runs.as_slice() {
        return Err(CliError::usage(format!("{refusal} (--memory, --cluster)")));
    }
    if runs.len() > 1 {
        // Patterns of many runs would bloat the file.
        runs.iter_mut().filter_map(|run| run.outcome.as_mut()).for_each(|outcome| outcome.pattern = None);
    }
    let names = [input, temporary, output].map(|target| devices.name(target));
    let file = file(&one, names, (devices.is_modelled, of_costs, devices.remarks()), runs);
    print(args, &file, common)
}

fn print(args: &WorkloadArgs, file: &WorkloadFile, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.rows.report {
        write_report(path, &nandle_report::workload_html(file))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json { Ok(output::json(file)?) } else { Ok(output::result(&table::text(file))?) }
}

fn doing(workload: &Workload) -> String {
    let cluster = workload.cluster_bytes.map_or(0, |bytes| bytes as u64);
    let cluster = if cluster == 0 { "auto".to_owned() } else { nandle_units::format_bytes(cluster) };
    let memory = nandle_units::format_bytes(workload.memory_bytes as u64);
    format!("{}: {memory}, clusters {cluster}", workload.operator.name())
}

fn of(workload: &Workload, result: CellResult) -> WorkloadRun {
    let (outcome, refusal) = match result {
        Ok(outcome) => (Some(outcome), None),
        Err(refusal) => (None, Some(refusal)),
    };
    WorkloadRun {
        wanted_cluster_bytes: workload.cluster_bytes.map(|bytes| bytes as u64),
        memory_bytes: workload.memory_bytes as u64,
        outcome,
        refusal,
    }
}

fn file(
    workload: &Workload,
    [input, temporary, output]: [String; 3],
    (is_modelled, costs, remarks): (bool, String, Vec<String>),
    runs: Vec<WorkloadRun>,
) -> WorkloadFile {
    WorkloadFile {
        schema_version: WORKLOAD_SCHEMA_VERSION,
        operator: workload.operator,
        records: workload.rows,
        row_bytes: workload.row_bytes as u64,
        key_bytes: workload.key_bytes as u64,
        seed: workload.seed,
        is_modelled,
        input,
        temporary,
        output,
        costs,
        remarks,
        runs,
    }
}

/// Adds the option that helps.
pub(crate) fn failed(error: WorkloadError) -> CliError {
    match error {
        WorkloadError::Spill(SpillError::Full { .. }) => CliError::failed(error.to_string()),
        WorkloadError::Spill(error) => spilled(error),
        WorkloadError::Cancelled => CliError::interrupted("interrupted; a workload keeps no partial results"),
        WorkloadError::Options { .. } => {
            CliError::usage(format!("{error} (--rows, --row-bytes, --key-bytes)"))
        }
        WorkloadError::TooSmall { .. } => CliError::usage(format!("{error} (--rows)")),
        error => CliError::failed(error.to_string()),
    }
}
