//! Runs of a workload: concurrent in virtual time, sequential on real devices.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use nandle_session::{Cancel, Observer as _};
use nandle_spill::{SpillCosts, SpillError};
use nandle_terminal::progress::Bar;
use nandle_workloads::{Outcome, Workload, WorkloadError, run};

use super::devices::{Devices, Roles};
use super::failed;
use crate::error::CliError;

/// A requested run.
pub(crate) struct Cell<'a> {
    pub(crate) roles: Roles,
    pub(crate) workload: Workload,
    /// Costs on the temporary data's target.
    pub(crate) costs: &'a SpillCosts,
    /// Text of the progress bar.
    pub(crate) doing: String,
}

/// Figures, or the reason why the device or memory can't run it.
pub(crate) type CellResult = Result<Outcome, String>;

/// Runs the cells and returns their results in order.
pub(crate) fn run_cells(
    devices: &Devices,
    cells: &[Cell<'_>],
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<Vec<CellResult>, CliError> {
    let threads =
        if devices.is_modelled { thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let mut all: Vec<Option<CellResult>> = cells.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..threads.min(cells.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(cell) = cells.get(number)
                    && sender.send((number, run_cell(devices, cell, cancel))).is_ok()
                {}
            });
        }
        drop(sender);
        for (done, (number, result)) in (1..).zip(results) {
            let share = f64::from(done) / cells.len().max(1) as f64;
            bar.progress(cells.get(number).map_or("", |cell| &cell.doing), share);
            if let Some(place) = all.get_mut(number) {
                // The first error drops the receiver, and the threads end after their current run.
                *place = Some(result?);
            }
        }
        Ok::<(), CliError>(())
    })?;
    Ok(all.into_iter().map(|result| result.unwrap_or_else(|| Err("it wasn't run".to_owned()))).collect())
}

fn run_cell(devices: &Devices, cell: &Cell<'_>, cancel: &Cancel) -> Result<CellResult, CliError> {
    let world = devices.world(cell.roles)?;
    match run(world, &cell.workload, cell.costs, &|| cancel.is_cancelled()) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(WorkloadError::Spill(error @ (SpillError::Options { .. } | SpillError::Memory { .. }))) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(failed(error)),
    }
}
