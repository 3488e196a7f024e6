//! `nandle place`.

mod args;
mod table;

use nandle_spill::SpillCosts;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, REPORT};
use nandle_units::format_bytes;
use nandle_workloads::{
    ClusterCell, ClusterRow, Outcome, PLACE_SCHEMA_VERSION, PlaceFile, Placement, PlacementRow, Role,
    Workload, cluster_sizes, findings,
};

pub(crate) use self::args::PlaceArgs;
use crate::commands::report::write_report;
use crate::commands::workload::{Cell, CellResult, Devices, Roles, run_cells};
use crate::error::CliError;

/// Cluster sizes of the published study.
const CLUSTER_BYTES_MIN: usize = 2 << 10;
const CLUSTER_BYTES_MAX: usize = 128 << 10;

pub(crate) fn run(args: &PlaceArgs, common: Common) -> Result<(), CliError> {
    if args.from == args.to {
        return Err(CliError::usage(format!("--from and --to are both {}; name two targets", args.from)));
    }
    if let Some(path) = &args.rows.report {
        result_file::check(path, &REPORT)?;
    }
    let workload = args.rows.workload(args.operator);
    let cancel = cancel_on_signals()?;
    let (devices, _) = Devices::open(&[&args.from, &args.to], &workload, &args.rows)?;
    let (from_costs, of_from) = devices.costs(FROM, args.from_profile.as_deref())?;
    let (to_costs, of_to) = devices.costs(TO, args.to_profile.as_deref())?;
    let costs = [&from_costs, &to_costs];
    [FROM, TO].into_iter().try_for_each(|target| devices.fill(target, &workload))?;
    let mut cells = placements(&workload, costs);
    let sweep = sweep(&workload);
    cells.extend(sweep.iter().flat_map(|workload| on_each(workload, costs)));
    let mut bar = Bar::new(!common.no_progress);
    let results = run_cells(&devices, &cells, &cancel, &mut bar)?;
    bar.finish();
    let mut results = results.into_iter();
    let placements = placement_rows(results.by_ref().take(Placement::ALL.len()))?;
    let clusters =
        sweep.iter().filter_map(|workload| Some(cluster_row(workload, [results.next()?, results.next()?])));
    let clusters = clusters.collect();
    let file = PlaceFile {
        schema_version: PLACE_SCHEMA_VERSION,
        operator: workload.operator,
        records: workload.rows,
        row_bytes: workload.row_bytes as u64,
        key_bytes: workload.key_bytes as u64,
        memory_bytes: workload.memory_bytes as u64,
        seed: workload.seed,
        is_modelled: devices.is_modelled,
        from: devices.name(FROM),
        to: devices.name(TO),
        costs: vec![of_from, of_to],
        remarks: devices.remarks(),
        placements,
        clusters,
        findings: Vec::new(),
    };
    let file = PlaceFile { findings: findings(&file), ..file };
    print(args, &file, common)
}

/// Indices of the source and destination targets.
const FROM: usize = 0;
const TO: usize = 1;

fn print(args: &PlaceArgs, file: &PlaceFile, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.rows.report {
        write_report(path, &nandle_report::place_html(file))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json { Ok(output::json(file)?) } else { Ok(output::result(&table::text(file))?) }
}

fn placements<'a>(workload: &Workload, costs: [&'a SpillCosts; 2]) -> Vec<Cell<'a>> {
    let [from_costs, to_costs] = costs;
    let cell = |placement: Placement| {
        let target = |role| if placement.is_moved(role) { TO } else { FROM };
        let temporary = target(Role::Temporary);
        Cell {
            roles: Roles { input: Some(target(Role::Input)), temporary, output: Some(target(Role::Output)) },
            workload: *workload,
            costs: if temporary == TO { to_costs } else { from_costs },
            doing: format!("{} moved", placement.words()),
        }
    };
    Placement::ALL.map(cell).into()
}

/// Workloads with the study's cluster sizes, and with those derived from each device's costs.
fn sweep(workload: &Workload) -> Vec<Workload> {
    let sizes = cluster_sizes(CLUSTER_BYTES_MIN, CLUSTER_BYTES_MAX).into_iter().map(Some);
    sizes.chain([None]).map(|cluster_bytes| Workload { cluster_bytes, ..*workload }).collect()
}

fn on_each<'a>(workload: &Workload, costs: [&'a SpillCosts; 2]) -> [Cell<'a>; 2] {
    let [from_costs, to_costs] = costs;
    let words = workload.cluster_bytes.map_or_else(|| "auto".to_owned(), |bytes| format_bytes(bytes as u64));
    [(FROM, from_costs), (TO, to_costs)].map(|(target, costs)| Cell {
        roles: Roles::alone(target),
        workload: *workload,
        costs,
        doing: format!("clusters: {words}"),
    })
}

/// Rows of the placements. A placement that can't run is an error.
fn placement_rows(results: impl Iterator<Item = CellResult>) -> Result<Vec<PlacementRow>, CliError> {
    let outcomes: Result<Vec<Outcome>, String> = results.collect();
    let outcomes = outcomes.map_err(|refusal| CliError::usage(format!("{refusal} (--memory, --cluster)")))?;
    let all_from_ns = outcomes.first().map_or(1, |outcome| outcome.elapsed_ns.max(1));
    let row = |(placement, outcome): (Placement, Outcome)| {
        let elapsed_ratio = outcome.elapsed_ns as f64 / all_from_ns as f64;
        let is_pure = matches!(placement, Placement::AllFrom | Placement::AllTo);
        let outcome = if is_pure { outcome } else { outcome.without_pattern() };
        PlacementRow { placement, outcome, elapsed_ratio }
    };
    Ok(Placement::ALL.into_iter().zip(outcomes).map(row).collect())
}

fn cluster_row(workload: &Workload, results: [CellResult; 2]) -> ClusterRow {
    let mut refusals = Vec::new();
    let [from, to] = results.map(|result| match result {
        Ok(outcome) => Some(ClusterCell::from(&outcome)),
        Err(refusal) => {
            refusals.push(refusal);
            None
        }
    });
    let wanted_cluster_bytes = workload.cluster_bytes.map(|bytes| bytes as u64);
    ClusterRow { wanted_cluster_bytes, from, to, refusals }
}
