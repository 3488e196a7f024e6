//! What one sorter writes: runs, and merges of them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::runtime::Handle;

use super::MemoryRows;
use super::options::SortOptions;
use super::runs::{Edges, Placed, WrittenRun, of_memory, write_run};
use super::shared::{Done, Layout, Shared};
use super::workspace::Workspace;
use crate::SpillError;
use crate::costs::fan_in;
use crate::merge::{Merge, Rows, next_merge, shortest};
use crate::space::{AfterReading, Appender, Space, WriteBuffers};

/// Rows that are sorted in memory, to become a run.
pub(super) struct Full {
    rows: MemoryRows,
    pub(super) row_bytes_max: usize,
}

impl Full {
    pub(super) fn new(workspace: Workspace) -> Self {
        let row_bytes_max = workspace.row_bytes_max;
        Self { rows: workspace.into_sorted(), row_bytes_max }
    }

    pub(super) fn into_rows(self) -> MemoryRows {
        self.rows
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.rows.workspace().row_bytes()
    }

    /// What all keys begin with.
    pub(super) fn common(&self) -> &[u8] {
        self.rows.workspace().common()
    }

    /// None where they are longer than so much.
    fn edges(&self, bytes_max: usize) -> Option<Box<Edges>> {
        let workspace = self.rows.workspace();
        debug_assert!(!workspace.is_empty(), "a run has a row");
        let [first, last] = [0, workspace.rows() - 1].map(|row| workspace.sorted_row(row).key);
        let are_short = first.len() + last.len() <= bytes_max;
        are_short.then(|| Box::new(Edges { first: first.to_vec(), last: last.to_vec() }))
    }
}

/// See the [module](self).
pub(super) struct Spill {
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    space: Space,
    state: Writing,
    merges: u64,
    read_requests: u64,
}

enum Writing {
    Idle(Appender),
    Run {
        run: RunFuture,
        /// What the run is to be put to the others as.
        place: Placed,
    },
    /// It failed, and so did the call that learnt it.
    Failed,
}

type RunFuture = Pin<Box<dyn Future<Output = Result<WrittenRun, SpillError>>>>;

impl Spill {
    pub(super) fn new(
        handle: &Handle,
        shared: &Arc<Shared>,
        layout: Arc<Layout>,
        buffers: WriteBuffers,
    ) -> Result<Self, SpillError> {
        let space = Space::of(handle, Arc::clone(&layout.area))?;
        let state = Writing::Idle(Appender::new(&space, buffers));
        Ok(Self { shared: Arc::clone(shared), layout, space, state, merges: 0, read_requests: 0 })
    }

    /// Begins to write a run of a part of the rows, when the one before is written.
    pub(super) async fn begin_run(&mut self, part: u64, full: Full) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        let (edges, continued) = {
            let mut state = self.shared.state();
            let edges = state.edges_bytes_max().and_then(|bytes_max| full.edges(bytes_max));
            let continued = state.take_continued(part, edges.as_deref());
            (edges, continued)
        };
        let rows = self.rows(of_memory(vec![full.rows]))?;
        let appender = self.take_appender()?;
        let mut place = continued.unwrap_or_else(|| Placed::nothing(part));
        place.grow(part, edges);
        let stream = place.run.streams.pop();
        let run = Box::pin(write_run(appender, Arc::clone(&self.layout.tags), rows, stream));
        self.state = Writing::Run { run, place };
        Ok(())
    }

    fn rows(&self, merge: Merge) -> Result<Rows, SpillError> {
        let SortOptions { budget, combine, limit, .. } = &self.shared.options;
        Rows::new(budget, merge, combine.clone(), limit.unwrap_or(u64::MAX))
    }

    fn take_appender(&mut self) -> Result<Appender, SpillError> {
        match std::mem::replace(&mut self.state, Writing::Failed) {
            Writing::Idle(appender) => Ok(appender),
            Writing::Run { .. } | Writing::Failed => Err(SpillError::Failed),
        }
    }

    /// Lets the run that is being written go on.
    pub(super) async fn go_on(&mut self) -> Result<(), SpillError> {
        let Writing::Run { run, .. } = &mut self.state else { return Ok(()) };
        match poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await {
            Poll::Ready(written) => self.finish_run(written),
            Poll::Pending => Ok(()),
        }
    }

    /// Waits until the run is written that was begun.
    pub(super) async fn wait_for_run(&mut self) -> Result<(), SpillError> {
        let Writing::Run { run, .. } = &mut self.state else { return Ok(()) };
        let written = run.as_mut().await;
        self.finish_run(written)
    }

    fn finish_run(&mut self, written: Result<WrittenRun, SpillError>) -> Result<(), SpillError> {
        let Writing::Run { mut place, .. } = std::mem::replace(&mut self.state, Writing::Failed) else {
            unreachable!("a run was being written")
        };
        let WrittenRun { appender, run, .. } = written?;
        self.state = Writing::Idle(appender);
        place.add(run);
        let mut state = self.shared.state();
        state.runs.made += 1;
        state.insert(place)
    }

    /// Waits until all that this sorter wrote is on the device.
    async fn quiesce(&mut self) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        let mut appender = self.take_appender()?;
        appender.drain().await?;
        self.state = Writing::Idle(appender);
        Ok(())
    }

    /// The sorter ends: everything is written.
    pub(super) async fn finish(mut self, done: &mut Done) -> Result<(), SpillError> {
        self.quiesce().await?;
        done.merges += self.merges;
        done.read_requests += self.read_requests;
        done.written = self.take_appender()?.written;
        Ok(())
    }

    /// Merges some runs where their lists are long. This sorter must have no other rows in memory.
    pub(super) async fn shorten_lists(&mut self) -> Result<(), SpillError> {
        if !self.shared.state().lists_are_full() {
            return Ok(());
        }
        self.quiesce().await?;
        let memory_bytes = self.shared.memory.merge_bytes(&self.shared.options.budget);
        let (fan_in, read_ahead) = fan_in_within(&self.shared, &self.layout, memory_bytes)?;
        // Half of them, so that the next time it is those that came since.
        let stable = self.shared.options.stable;
        let lengths = self.shared.state().runs.lengths(stable);
        let count = fan_in.min(lengths.len() / 2).max(2);
        let positions = if lengths.len() > 2 { shortest(&lengths, count, stable) } else { None };
        match positions {
            Some(positions) => self.merge(&positions, read_ahead).await,
            None => Ok(()),
        }
    }

    /// Merges runs until so few are left that one merge joins them.
    pub(super) async fn merge_to_few(&mut self) -> Result<(), SpillError> {
        self.quiesce().await?;
        loop {
            let free_bytes = self.shared.options.budget.free_bytes();
            let (fan_in, read_ahead) = fan_in_within(&self.shared, &self.layout, free_bytes)?;
            let stable = self.shared.options.stable;
            let lengths = self.shared.state().runs.lengths(stable);
            let Some(positions) = next_merge(&lengths, fan_in, stable) else { return Ok(()) };
            self.merge(&positions, read_ahead).await?;
        }
    }

    async fn merge(&mut self, positions: &[usize], read_ahead: usize) -> Result<(), SpillError> {
        let (taken, parts) = {
            let mut state = self.shared.state();
            let taken = state.runs.take(positions);
            state.count_lists()?;
            taken
        };
        let merge = Merge::of_runs(
            &self.space,
            &self.shared.options.budget,
            taken,
            read_ahead,
            AfterReading::Release,
        )?;
        let rows = self.rows(merge)?;
        let appender = self.take_appender()?;
        let mut written = write_run(appender, Arc::clone(&self.layout.tags), rows, None).await?;
        // What was merged is read again before it is known to be written otherwise.
        written.appender.drain().await?;
        self.state = Writing::Idle(written.appender);
        self.read_requests += written.read_requests;
        self.merges += 1;
        self.shared.state().insert(Placed { run: written.run, parts, edges: None })
    }
}

/// How many runs can be merged at once in so much memory, and how many reads are ahead.
pub(super) fn fan_in_within(
    shared: &Shared,
    layout: &Layout,
    memory_bytes: usize,
) -> Result<(usize, usize), SpillError> {
    let (by_run_bytes, row_bytes_max) = shared.state().runs.by_run_bytes_max();
    let cluster_bytes = layout.plan.cluster_bytes;
    // The writer has the key of the row before. Where rows are combined one has its key and payload, which may be of two long ones.
    let rows = if shared.options.combine.is_some() { 4 } else { 2 };
    let free_bytes = memory_bytes.saturating_sub(rows * row_bytes_max);
    // Reading ahead is given up before merging is.
    let with = |read_ahead| fan_in(free_bytes, cluster_bytes, by_run_bytes, read_ahead);
    let Some(read_ahead) = (0..=layout.plan.read_ahead).rev().find(|ahead| with(*ahead) >= 2) else {
        let budget = &shared.options.budget;
        let used_bytes = budget.bytes() - free_bytes;
        // Buffers of clusters are counted in whole grains.
        let by_run_bytes = by_run_bytes + cluster_bytes.next_multiple_of(GRAIN_BYTES);
        return Err(SpillError::Memory {
            purpose: "merging two runs with rows as long as these",
            needed_bytes: (used_bytes + GRAIN_BYTES + 2 * by_run_bytes) as u64,
            budget_bytes: budget.bytes() as u64,
        });
    };
    let most = shared.options.fan_in_max.unwrap_or(usize::MAX).max(2);
    Ok((with(read_ahead).min(most), read_ahead))
}
