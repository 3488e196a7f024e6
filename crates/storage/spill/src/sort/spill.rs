//! Runs and merges written by one sorter.

use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::runtime::Handle;

use super::options::SortOptions;
use super::pending_run::PendingRun;
use super::runs::{PlacedRun, RunList, WrittenRun, of_memory, write_run};
use super::shared::{Layout, Shared, SorterTotals};
use super::workspace::Workspace;
use crate::SpillError;
use crate::costs::fan_in;
use crate::merge::{Merge, Rows, Run, next_merge, shortest};
use crate::space::{AfterReading, Appender, Space, WriteBuffers};

/// Writer of one sorter; see the [module](self).
pub(super) struct Spill {
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    space: Space,
    state: WriterState,
    /// Memory of rows that have been written, kept if other sorters must not take it.
    spare: Option<Workspace>,
    merges: u64,
    read_requests: u64,
}

enum WriterState {
    Idle(Appender),
    Run {
        run: RunFuture,
        /// Run and stretch that the written rows will be inserted as.
        place: PlacedRun,
    },
    /// Writing failed, and the failed call returned the error.
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
        let state = WriterState::Idle(Appender::new(&space, buffers));
        Ok(Self {
            shared: Arc::clone(shared),
            layout,
            space,
            state,
            spare: None,
            merges: 0,
            read_requests: 0,
        })
    }

    /// Starts to write a run of a stretch, after completing the previous run.
    pub(super) async fn begin_run(&mut self, stretch: u64, full: PendingRun) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        let (edges, continued) = {
            let mut state = self.shared.state();
            let edges = state.edges_bytes_max().and_then(|bytes_max| full.edges(bytes_max));
            let continued = state.runs.take_continued(stretch, edges.as_deref());
            (edges, continued)
        };
        let rows = self.rows(of_memory(vec![full.into_rows()]))?;
        let appender = self.take_appender()?;
        let mut place = continued.unwrap_or_else(|| PlacedRun::empty(stretch));
        place.grow(stretch, edges);
        let stream = place.run.streams.pop();
        let tags = Arc::clone(&self.layout.tags);
        // Other sorters may merge this run, so its writes must be complete.
        let drains = self.shared.memory.sorters > 1;
        let run = Box::pin(write_run(appender, tags, rows, stream, drains));
        self.state = WriterState::Run { run, place };
        Ok(())
    }

    fn rows(&self, merge: Merge) -> Result<Rows, SpillError> {
        let SortOptions { budget, combine, limit, .. } = &self.shared.options;
        Rows::new(budget, merge, combine.clone(), limit.unwrap_or(u64::MAX))
    }

    fn take_appender(&mut self) -> Result<Appender, SpillError> {
        match std::mem::replace(&mut self.state, WriterState::Failed) {
            WriterState::Idle(appender) => Ok(appender),
            WriterState::Run { .. } | WriterState::Failed => Err(SpillError::Failed),
        }
    }

    /// Polls the run being written.
    pub(super) async fn make_progress(&mut self) -> Result<(), SpillError> {
        let WriterState::Run { run, .. } = &mut self.state else { return Ok(()) };
        match poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await {
            Poll::Ready(written) => self.finish_run(written),
            Poll::Pending => Ok(()),
        }
    }

    /// Waits until the current run is written.
    pub(super) async fn wait_for_run(&mut self) -> Result<(), SpillError> {
        let WriterState::Run { run, .. } = &mut self.state else { return Ok(()) };
        let written = run.as_mut().await;
        self.finish_run(written)
    }

    fn finish_run(&mut self, written: Result<WrittenRun, SpillError>) -> Result<(), SpillError> {
        let WriterState::Run { mut place, .. } = std::mem::replace(&mut self.state, WriterState::Failed)
        else {
            unreachable!("a run was being written")
        };
        let WrittenRun { appender, run, memory, .. } = written?;
        self.state = WriterState::Idle(appender);
        self.spare = memory.filter(|_| self.shared.memory.keeps_memory());
        place.add(run);
        let mut state = self.shared.state();
        state.runs.made += 1;
        state.insert(place)
    }

    /// Takes the memory kept from written rows, if any.
    pub(super) fn take_spare(&mut self) -> Option<Workspace> {
        self.spare.take()
    }

    /// Waits until all writes of this sorter are complete.
    async fn quiesce(&mut self) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        let mut appender = self.take_appender()?;
        appender.drain().await?;
        self.state = WriterState::Idle(appender);
        Ok(())
    }

    /// Ends the sorter: completes all writes.
    pub(super) async fn finish(mut self, done: &mut SorterTotals) -> Result<(), SpillError> {
        self.quiesce().await?;
        done.merges += self.merges;
        done.read_requests += self.read_requests;
        done.written = self.take_appender()?.written;
        Ok(())
    }

    /// Merges runs if their lists are long. The sorter must have no other rows in memory.
    pub(super) async fn shorten_lists(&mut self) -> Result<(), SpillError> {
        while !self.shared.state().may_merge() {
            if !self.shared.state().lists_are_full() {
                return Ok(());
            }
            // Another sorter is merging, and there is no room for more runs until it is done.
            std::thread::yield_now();
            self.space.handle().yield_now().await;
        }
        let merged = self.merge_half().await;
        self.shared.state().is_merging = false;
        merged
    }

    /// Merges half of the runs, so that the next merge takes newer ones.
    async fn merge_half(&mut self) -> Result<(), SpillError> {
        self.quiesce().await?;
        self.spare = None;
        let memory_bytes = self.shared.memory.merge_bytes(&self.shared.options.budget);
        let stable = self.shared.options.stable;
        self.merge_some(memory_bytes, |lengths, fan_in| {
            let count = fan_in.min(lengths.len() / 2).max(2);
            if lengths.len() > 2 { shortest(lengths, count, stable) } else { None }
        })
        .await?;
        Ok(())
    }

    /// Merges runs until one last merge can take the rest.
    pub(super) async fn merge_to_few(&mut self) -> Result<(), SpillError> {
        self.quiesce().await?;
        self.spare = None;
        loop {
            let free_bytes = self.shared.options.budget.free_bytes();
            let stable = self.shared.options.stable;
            let choose = |lengths: &[u64], fan_in| next_merge(lengths, fan_in, stable);
            if !self.merge_some(free_bytes, choose).await? {
                return Ok(());
            }
        }
    }

    /// Merges the runs that `choose` selects by their lengths and the maximum fan-in. Returns false
    /// if it selects none.
    async fn merge_some(
        &mut self,
        memory_bytes: usize,
        choose: impl FnOnce(&[u64], usize) -> Option<Vec<usize>>,
    ) -> Result<bool, SpillError> {
        let (taken, stretches, read_ahead) = {
            // Positions are valid only under the lock, because others insert and take runs.
            let mut state = self.shared.state();
            let (fan_in, read_ahead) = fan_in_within(&self.shared, &self.layout, &state.runs, memory_bytes)?;
            let lengths = state.runs.lengths(self.shared.options.stable);
            let Some(positions) = choose(&lengths, fan_in) else { return Ok(false) };
            let (taken, stretches) = state.runs.take(&positions);
            state.count_lists()?;
            (taken, stretches, read_ahead)
        };
        self.merge(taken, stretches, read_ahead).await.map(|()| true)
    }

    async fn merge(
        &mut self,
        taken: Vec<Run>,
        stretches: Range<u64>,
        read_ahead: usize,
    ) -> Result<(), SpillError> {
        let merge = Merge::of_runs(
            &self.space,
            &self.shared.options.budget,
            taken,
            read_ahead,
            AfterReading::Release,
        )?;
        let rows = self.rows(merge)?;
        let appender = self.take_appender()?;
        // The merged run may be read before the appender's next wait, so it must be on the device.
        let written = write_run(appender, Arc::clone(&self.layout.tags), rows, None, true).await?;
        self.state = WriterState::Idle(written.appender);
        self.read_requests += written.read_requests;
        self.merges += 1;
        self.shared.state().insert(PlacedRun { run: written.run, stretches, edges: None })
    }
}

/// Returns the fan-in and the read-ahead that fit into `memory_bytes`.
pub(super) fn fan_in_within(
    shared: &Shared,
    layout: &Layout,
    runs: &RunList,
    memory_bytes: usize,
) -> Result<(usize, usize), SpillError> {
    let (by_run_bytes, row_bytes_max) = runs.by_run_bytes_max();
    let cluster_bytes = layout.plan.cluster_bytes;
    // The writer keeps the previous key. Combining keeps a key and a payload, which may come of two
    // long rows.
    let rows = if shared.options.combine.is_some() { 4 } else { 2 };
    let free_bytes = memory_bytes.saturating_sub(rows * row_bytes_max);
    // Reduce the read-ahead before giving up on merging.
    let with = |read_ahead| fan_in(free_bytes, cluster_bytes, by_run_bytes, read_ahead);
    let Some(read_ahead) = (0..=layout.plan.read_ahead).rev().find(|ahead| with(*ahead) >= 2) else {
        let budget = &shared.options.budget;
        let used_bytes = budget.bytes() - free_bytes;
        // Cluster buffers are charged in whole grains.
        let by_run_bytes = by_run_bytes + cluster_bytes.next_multiple_of(GRAIN_BYTES);
        return Err(SpillError::Memory {
            purpose: "merging two runs with rows of this length",
            needed_bytes: (used_bytes + GRAIN_BYTES + 2 * by_run_bytes) as u64,
            budget_bytes: budget.bytes() as u64,
        });
    };
    let most = shared.options.fan_in_max.unwrap_or(usize::MAX).max(2);
    Ok((with(read_ahead).min(most), read_ahead))
}
