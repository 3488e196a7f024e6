//! What is left to do when all rows have come.

use std::sync::Arc;

use nandle_io::runtime::Handle;

use super::options::SortOptions;
use super::runs::of_memory;
use super::shared::{Done, Layout, Shared};
use super::sorted::{SortReport, Sorted, span_ns};
use super::spill::{Full, Spill, fan_in_within};
use crate::SpillError;
use crate::merge::{Merge, Rows};
use crate::space::{Space, WriteBuffers};

/// The order of all rows that the sorters took, each of which has ended.
pub(super) async fn finish(handle: &Handle, shared: &Arc<Shared>) -> Result<Sorted, SpillError> {
    let (mut in_memory, layout) = {
        let mut state = shared.state();
        (std::mem::take(&mut state.in_memory), state.layout.clone())
    };
    in_memory.sort_by_key(|(part, _)| *part);
    let Some(layout) = layout else {
        let report = report(shared.state().done);
        let merge = of_memory(in_memory.into_iter().map(|(_, full)| full.into_rows()).collect());
        return sorted(shared, merge, report);
    };
    let began_at = handle.now();
    let read_ahead = write_rest(handle, shared, &layout, in_memory).await?;
    let (runs, made, done) = {
        let mut state = shared.state();
        let runs = state.runs.take_all();
        state.count_lists()?;
        (runs, state.runs.made, state.done)
    };
    let last_fan_in = runs.len() as u64;
    let space = Space::of(handle, Arc::clone(&layout.area))?;
    let merge = Merge::of_runs(&space, &shared.options.budget, runs, read_ahead)?;
    let report = SortReport {
        runs: made,
        merges: done.merges,
        last_fan_in,
        predicted: Some(layout.plan),
        written_bytes: done.written.bytes,
        write_requests: done.written.requests,
        read_requests: done.read_requests,
        cluster_bytes: layout.plan.cluster_bytes,
        merge_ns: span_ns(began_at, handle.now()),
        ..report(done)
    };
    sorted(shared, merge, report)
}

/// Writes what is in memory, and merges until few enough runs are left for the last merge. Returns how many reads that has ahead.
async fn write_rest(
    handle: &Handle,
    shared: &Arc<Shared>,
    layout: &Arc<Layout>,
    in_memory: Vec<(u64, Full)>,
) -> Result<usize, SpillError> {
    let last_merge = || {
        let (fan_in, read_ahead) = fan_in_within(shared, layout, shared.options.budget.free_bytes())?;
        Ok((shared.state().runs.len() <= fan_in).then_some(read_ahead))
    };
    if in_memory.is_empty()
        && let Some(read_ahead) = last_merge()?
    {
        return Ok(read_ahead);
    }
    let buffers = WriteBuffers::new(&shared.options.budget, shared.memory.writes)?;
    let mut spill = Spill::new(handle, shared, Arc::clone(layout), buffers)?;
    for (part, full) in in_memory {
        spill.begin_run(part, full).await?;
    }
    spill.merge_to_few().await?;
    let mut done = Done::default();
    spill.finish(&mut done).await?;
    shared.add_done(done);
    let read_ahead: Result<_, SpillError> = last_merge();
    read_ahead?.ok_or(SpillError::Failed)
}

fn report(done: Done) -> SortReport {
    SortReport { rows: done.rows, row_bytes: done.row_bytes, run_ns: done.run_ns, ..SortReport::default() }
}

fn sorted(shared: &Shared, merge: Merge, report: SortReport) -> Result<Sorted, SpillError> {
    let SortOptions { budget, combine, limit, .. } = &shared.options;
    let rows = Rows::new(budget, merge, combine.clone(), limit.unwrap_or(u64::MAX))?;
    Ok(Sorted::new(rows, report, budget.clone()))
}
