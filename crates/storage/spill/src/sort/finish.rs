//! Final merges once all rows have been pushed.

use std::sync::Arc;

use nandle_io::runtime::Handle;

use super::options::SortOptions;
use super::parts::{SortedPart, divide, fitting_parts};
use super::pending_run::PendingRun;
use super::runs::of_memory;
use super::shared::{Layout, Shared, SorterTotals};
use super::sorted::{SortReport, Sorted, span_ns};
use super::spill::{Spill, fan_in_within};
use crate::SpillError;
use crate::merge::{Merge, Rows, Run};
use crate::space::{AfterReading, Space, WriteBuffers};

/// Sorted result before any row has been read.
pub enum SortOutput {
    /// A single stream.
    Whole(Box<Sorted>),
    /// Parts in key order, to be merged independently; and the report so far.
    Parts(Vec<SortedPart>, SortReport),
}

/// Merges the rows of all sorters, which must have ended.
pub(super) async fn finish(handle: &Handle, shared: &Arc<Shared>) -> Result<Sorted, SpillError> {
    let Some(runs) = last_runs(handle, shared).await? else { return in_memory(shared) };
    whole(handle, shared, runs)
}

/// Merges the rows of all sorters in at most `parts` parts.
pub(super) async fn finish_in_parts(
    handle: &Handle,
    shared: &Arc<Shared>,
    parts: usize,
) -> Result<SortOutput, SpillError> {
    let Some(runs) = last_runs(handle, shared).await? else {
        return in_memory(shared).map(Box::new).map(SortOutput::Whole);
    };
    let parts = if shared.options.limit.is_some() { 1 } else { fitting_parts(shared, &runs.layout, parts) };
    if parts < 2 {
        return whole(handle, shared, runs).map(Box::new).map(SortOutput::Whole);
    }
    let LastRuns { layout, mut report, .. } = runs;
    let free_bytes = shared.options.budget.free_bytes();
    let (_, read_ahead) = fan_in_within(shared, &layout, &shared.state().runs, free_bytes / parts)?;
    let taken = take_runs(shared)?;
    let (parts, requests) = divide(handle, shared, &layout, &taken, (parts, read_ahead)).await?;
    report.read_requests += requests;
    Ok(SortOutput::Parts(parts, report))
}

/// Input of the last merge: all runs in the shared state.
struct LastRuns {
    layout: Arc<Layout>,
    read_ahead: usize,
    report: SortReport,
}

/// Writes the rows in memory, and merges until one last merge suffices. Returns none if all rows
/// are in memory.
async fn last_runs(handle: &Handle, shared: &Arc<Shared>) -> Result<Option<LastRuns>, SpillError> {
    let Some(layout) = shared.state().layout.clone() else { return Ok(None) };
    let began_at = handle.now();
    let read_ahead = write_rest(handle, shared, &layout).await?;
    let state = shared.state();
    let done = state.done;
    let report = SortReport {
        runs: state.runs.made,
        merges: done.merges,
        last_fan_in: state.runs.len() as u64,
        predicted: Some(layout.plan),
        written_bytes: done.written.bytes,
        write_requests: done.written.requests,
        read_requests: done.read_requests,
        cluster_bytes: layout.plan.cluster_bytes,
        merge_ns: span_ns(began_at, handle.now()),
        ..report(done)
    };
    drop(state);
    Ok(Some(LastRuns { layout, read_ahead, report }))
}

/// Returns the read-ahead of the last merge.
async fn write_rest(
    handle: &Handle,
    shared: &Arc<Shared>,
    layout: &Arc<Layout>,
) -> Result<usize, SpillError> {
    let in_memory = stretches_in_memory(shared);
    let last_merge = || {
        let state = shared.state();
        let free_bytes = shared.options.budget.free_bytes();
        let (fan_in, read_ahead) = fan_in_within(shared, layout, &state.runs, free_bytes)?;
        Ok((state.runs.len() <= fan_in).then_some(read_ahead))
    };
    if in_memory.is_empty()
        && let Some(read_ahead) = last_merge()?
    {
        return Ok(read_ahead);
    }
    let buffers = WriteBuffers::new(&shared.options.budget, shared.memory.writes)?;
    let mut spill = Spill::new(handle, shared, Arc::clone(layout), buffers)?;
    for (stretch, full) in in_memory {
        spill.begin_run(stretch, full).await?;
    }
    spill.merge_to_few().await?;
    let mut done = SorterTotals::default();
    spill.finish(&mut done).await?;
    shared.add_done(done);
    let read_ahead: Result<_, SpillError> = last_merge();
    let Some(read_ahead) = read_ahead? else {
        unreachable!("runs were merged until the last merge can join them, and more memory is free since")
    };
    Ok(read_ahead)
}

fn stretches_in_memory(shared: &Shared) -> Vec<(u64, PendingRun)> {
    let mut in_memory = std::mem::take(&mut shared.state().in_memory);
    in_memory.sort_by_key(|(stretch, _)| *stretch);
    in_memory
}

fn take_runs(shared: &Shared) -> Result<Vec<Run>, SpillError> {
    let mut state = shared.state();
    let runs = state.runs.take_all();
    state.count_lists()?;
    Ok(runs)
}

fn whole(handle: &Handle, shared: &Shared, runs: LastRuns) -> Result<Sorted, SpillError> {
    let LastRuns { layout, read_ahead, report } = runs;
    let runs = take_runs(shared)?;
    let space = Space::of(handle, Arc::clone(&layout.area))?;
    let merge = Merge::of_runs(&space, &shared.options.budget, runs, read_ahead, AfterReading::Release)?;
    sorted(shared, merge, report)
}

fn in_memory(shared: &Shared) -> Result<Sorted, SpillError> {
    let sources = stretches_in_memory(shared).into_iter().map(|(_, full)| full.into_rows());
    let done = shared.state().done;
    sorted(shared, of_memory(sources.collect()), report(done))
}

fn report(done: SorterTotals) -> SortReport {
    SortReport { rows: done.rows, row_bytes: done.row_bytes, run_ns: done.run_ns, ..SortReport::default() }
}

fn sorted(shared: &Shared, merge: Merge, report: SortReport) -> Result<Sorted, SpillError> {
    let SortOptions { budget, combine, limit, .. } = &shared.options;
    let rows = Rows::new(budget, merge, combine.clone(), limit.unwrap_or(u64::MAX))?;
    Ok(Sorted::new(rows, report, budget.clone()))
}
