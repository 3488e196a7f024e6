//! Sources of a scan's rows: the table, or a projection that covers the scan.

use std::str::FromStr;
use std::sync::Arc;

use nandle_columns::{ScanPlan, ScanSpec, Snapshot};
use nandle_predict::host_costs;
use nandle_reads::{Plan, ReadCosts};
use nandle_terminal::output;
use serde::Serialize;

use super::args::{RowFormat, ScanArgs};
use super::files::OpenFiles;
use super::forecast::{Bounds, CpuCosts, Figures, planned};
use super::work::RowCost;
use super::{error_of, host, pilot};
use crate::costs::{FoundProfile, costs_of};
use crate::error::CliError;
use crate::input::Input;

/// The requested path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathChoice {
    /// The path with the least predicted time.
    Auto,
    Table,
    /// The projection of these comma-separated columns.
    Projection(String),
}

impl FromStr for PathChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "table" => Ok(Self::Table),
            Some(("projection", name)) if !name.is_empty() => Ok(Self::Projection(name.to_owned())),
            _ => Err("expected auto, table or projection:COLUMN,…".to_owned()),
        }
    }
}

/// Forecast of a path.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PathForecast {
    pub(super) path: String,
    pub(super) read_bytes: u64,
    pub(super) time: Bounds,
    pub(super) is_taken: bool,
}

/// An opened path.
pub(super) struct OpenedPath {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) plan: ScanPlan,
    pub(super) opened: OpenFiles,
    pub(super) costs: ReadCosts,
    /// Figures that the profile lacks.
    pub(super) missing: Vec<String>,
    pub(super) reads: Arc<Plan>,
    /// Measured if it is printed or decides.
    pub(super) cpu: Option<CpuCosts>,
}

/// Path to take, and the forecasts of all; empty if there is no choice.
pub(super) fn choose(
    args: &ScanArgs,
    input: &Input,
    spec: &ScanSpec,
    found: &FoundProfile,
    told: (RowFormat, bool),
) -> Result<(OpenedPath, Vec<PathForecast>), CliError> {
    let (format, is_told) = told;
    let candidates = candidates(args, input, spec)?;
    let is_measured = is_told || candidates.len() > 1;
    let (mut paths, mut refused) = (Vec::new(), Vec::new());
    for (name, snapshot) in candidates {
        let tried = open(args, input, name.clone(), &snapshot, spec, found).and_then(|path| {
            let cpu = is_measured.then(|| measured(args, &path, found, format)).transpose();
            Ok(OpenedPath { cpu: cpu.map_err(|error| error_of(input, error))?, ..path })
        });
        match tried {
            Ok(path) => paths.push(path),
            Err(error) => refused.push((name, error)),
        }
    }
    for (name, error) in refused {
        if paths.is_empty() {
            return Err(error);
        }
        output::note(&format!("{name} isn't taken: {error}"));
    }
    let figures: Vec<Option<Figures>> = paths
        .iter()
        .map(|path| Some(Figures::of(&path.reads, &path.plan, path.cpu.as_ref()?, args.copies_bytes())))
        .collect();
    let seconds = |place: &usize| {
        let figures = figures.get(*place).and_then(Option::as_ref);
        figures.map_or(f64::INFINITY, |figures| figures.time.value_s)
    };
    let quickest = (0..paths.len()).min_by(|one, other| seconds(one).total_cmp(&seconds(other)));
    let taken = quickest.unwrap_or_default();
    let forecasts = paths.iter().zip(&figures).enumerate().filter_map(|(place, (path, figures))| {
        let figures = figures.as_ref()?;
        Some(PathForecast {
            path: path.name.clone(),
            read_bytes: figures.read_bytes,
            time: figures.time,
            is_taken: place == taken,
        })
    });
    let forecasts = forecasts.collect();
    Ok((paths.swap_remove(taken), forecasts))
}

/// Processor times of a scan's threads, from its first steps.
fn measured(
    args: &ScanArgs,
    path: &OpenedPath,
    found: &FoundProfile,
    format: RowFormat,
) -> Result<CpuCosts, CliError> {
    // With a limit printing soon ends, and says nothing about later steps.
    let format = if args.limit(format) == u64::MAX { format } else { RowFormat::None };
    let row = RowCost::measure(&path.plan, format)?;
    let (known, options) = (host_costs(&found.profile), args.plan_options(args.reads));
    let host = host::measure(&path.opened, &path.plan, &path.costs, options, args.copies_bytes(), known)?;
    let first = host::first_steps(&path.opened, &path.plan, &path.costs, options, pilot::STEPS)?;
    let pilot = pilot::run(&path.plan, &path.opened, &first, args.copies_bytes(), host.costs, format)?;
    Ok(CpuCosts { row, host, pilot })
}

/// Paths to compare, or the requested one.
fn candidates(args: &ScanArgs, input: &Input, spec: &ScanSpec) -> Result<Vec<(String, Snapshot)>, CliError> {
    let of = |error: nandle_columns::ColumnsError| error_of(input, error.into());
    let covering = input.snapshot.covering(spec);
    let mut all = Vec::new();
    if !matches!(args.path, PathChoice::Projection(_)) {
        all.push(("table".to_owned(), input.snapshot.clone()));
    }
    for projection in covering.iter().filter(|_| args.path != PathChoice::Table) {
        let name = projection.name();
        if matches!(&args.path, PathChoice::Projection(wanted) if *wanted != name) {
            continue;
        }
        let snapshot = input.snapshot.projection(projection).map_err(of)?;
        all.push((format!("projection:{name}"), snapshot));
    }
    match (&args.path, all.is_empty()) {
        (PathChoice::Projection(wanted), true) => {
            let names: Vec<String> = covering.iter().map(|projection| projection.name()).collect();
            let known = if names.is_empty() {
                "none has".to_owned()
            } else {
                format!("these have: {}", names.join("; "))
            };
            Err(CliError::usage(format!(
                "--path: there is no projection {wanted} with all columns that the scan needs ({known}); `nandle table project` makes one"
            )))
        }
        _ => Ok(all),
    }
}

fn open(
    args: &ScanArgs,
    input: &Input,
    name: String,
    snapshot: &Snapshot,
    spec: &ScanSpec,
    found: &FoundProfile,
) -> Result<OpenedPath, CliError> {
    let plan = snapshot.scan(spec).map_err(|error| error_of(input, error.into()))?;
    let opened = OpenFiles::open(input, &plan, args.io.into()).map_err(|error| error_of(input, error))?;
    let (costs, missing) = costs_of(found, opened.shape.as_ref())?;
    let reads = planned(args, &plan, &opened.plan_files(), &costs)?;
    let rows = snapshot.rows();
    Ok(OpenedPath { name, rows, plan, opened, costs, missing, reads, cpu: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_understood() {
        assert_eq!("table".parse(), Ok(PathChoice::Table));
        assert_eq!("projection:a,b".parse(), Ok(PathChoice::Projection("a,b".to_owned())));
        for wrong in ["", "projection", "projection:", "btree:a", "tables"] {
            assert!(wrong.parse::<PathChoice>().is_err(), "{wrong}");
        }
    }
}
