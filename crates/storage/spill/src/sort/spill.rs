//! What a sort has on its device: the runs, and the one that is being written.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use nandle_io::runtime::Handle;

use super::MemoryRows;
use super::division::Division as Memory;
use super::options::SortOptions;
use super::runs::{Edges, Joined, Runs, WrittenRun, of_memory, write_run};
use super::workspace::Workspace;
use crate::budget::Grant;
use crate::costs::{Work, fan_in};
use crate::merge::{Merge, Rows, Run, Tags, next_merge, run_overhead_bytes, shortest};
use crate::space::{Appender, Division, Place, Space, WriteBuffers, Written};
use crate::{MergePlan, SpillError};

const LISTS: &str = "lists of runs";

/// Rows that are sorted in memory, to become a run.
pub(super) struct Full {
    rows: MemoryRows,
    row_bytes_max: usize,
}

impl Full {
    pub(super) fn new(workspace: Workspace) -> Self {
        let row_bytes_max = workspace.row_bytes_max;
        Self { rows: workspace.into_sorted(), row_bytes_max }
    }

    pub(super) fn into_rows(self) -> MemoryRows {
        self.rows
    }

    /// None where they are longer than so much.
    fn edges(&self, bytes_max: usize) -> Option<Edges> {
        let workspace = self.rows.workspace();
        debug_assert!(!workspace.is_empty(), "a run has a row");
        let [first, last] = [0, workspace.rows() - 1].map(|row| workspace.sorted_row(row).key);
        let are_short = first.len() + last.len() <= bytes_max;
        are_short.then(|| Edges { first: first.to_vec(), last: last.to_vec() })
    }
}

/// See the [module](self).
pub(super) struct Spill {
    options: SortOptions,
    space: Space,
    tags: Rc<Tags>,
    pub(super) plan: MergePlan,
    lists_bytes: usize,
    /// Of the runs' lists.
    lists: Grant,
    runs: Runs,
    state: Writing,
    pub(super) merges: u64,
    read_requests: u64,
}

enum Writing {
    Idle(Appender),
    Run {
        run: RunFuture,
        joined: Joined,
    },
    /// It failed, and so did the call that learnt it.
    Failed,
}

type RunFuture = Pin<Box<dyn Future<Output = Result<WrittenRun, SpillError>>>>;

/// The last merge, and what was done before it.
pub(super) struct LastMerge {
    pub(super) rows: Rows,
    pub(super) fan_in: u64,
    pub(super) runs: u64,
    pub(super) merges: u64,
    pub(super) written: Written,
    pub(super) read_requests: u64,
}

impl Spill {
    /// Chooses clusters by the rows that are the first to be written.
    pub(super) fn new(
        handle: &Handle,
        place: Place,
        options: &SortOptions,
        memory: Memory,
        buffers: WriteBuffers,
        first: &Full,
    ) -> Result<Self, SpillError> {
        let plan = plan(handle, place, options, &buffers, first)?;
        let cluster_bytes = plan.cluster_bytes as u64;
        let zone_bytes = options.costs.zone_bytes.min(place.length_bytes).max(cluster_bytes);
        let zone_bytes = zone_bytes - zone_bytes % cluster_bytes;
        let space = Space::new(handle, place, Division { cluster_bytes: plan.cluster_bytes, zone_bytes })?;
        let appender = Appender::new(&space, buffers);
        let tags = Rc::new(Tags::new(first.rows.workspace().common()));
        Ok(Self {
            options: options.clone(),
            space,
            tags,
            plan,
            lists_bytes: memory.lists_bytes,
            lists: options.budget.count(LISTS, 0)?,
            runs: Runs::default(),
            state: Writing::Idle(appender),
            merges: 0,
            read_requests: 0,
        })
    }

    /// Begins to write a run, when the one before is written.
    pub(super) async fn begin_run(&mut self, full: Full) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        // Runs in front of each other can't be merged to shorten their lists, so a new one begins when those are long.
        let has_room = 2 * self.lists.bytes() <= self.lists_bytes;
        let edges = full.edges(self.lists_bytes / 4).filter(|_| has_room);
        let joined = self.runs.expect(edges);
        let rows = self.rows(of_memory(vec![full.rows]))?;
        let appender = self.take_appender()?;
        let stream = self.runs.take_last_stream(joined);
        let run = Box::pin(write_run(appender, Rc::clone(&self.tags), rows, stream));
        self.state = Writing::Run { run, joined };
        Ok(())
    }

    fn rows(&self, merge: Merge) -> Result<Rows, SpillError> {
        let SortOptions { budget, combine, limit, .. } = &self.options;
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
        let Writing::Run { joined, .. } = std::mem::replace(&mut self.state, Writing::Failed) else {
            unreachable!("a run was being written")
        };
        let WrittenRun { appender, run, .. } = written?;
        self.state = Writing::Idle(appender);
        self.runs.add(run, joined);
        self.count_lists()
    }

    fn count_lists(&mut self) -> Result<(), SpillError> {
        self.lists.resize(LISTS, self.runs.list_bytes())
    }

    /// Whether runs should be merged before there are more.
    pub(super) fn lists_are_full(&self) -> bool {
        // A list that grows takes more for a moment.
        3 * self.lists.bytes() > 2 * self.lists_bytes && self.runs.all.len() > 2
    }

    /// Waits until all runs are written, and joins no more to the last one.
    async fn quiesce(&mut self) -> Result<(), SpillError> {
        self.wait_for_run().await?;
        let mut appender = self.take_appender()?;
        appender.drain().await?;
        self.state = Writing::Idle(appender);
        self.runs.close();
        self.count_lists()
    }

    /// Merges some runs, so that their lists are shorter. No rows must be in memory.
    pub(super) async fn merge_some(&mut self) -> Result<(), SpillError> {
        self.quiesce().await?;
        let (fan_in, read_ahead) = self.fan_in()?;
        // Half of them, so that the next time it is those that came since.
        let lengths = self.runs.lengths();
        let count = fan_in.min(lengths.len() / 2).max(2);
        match shortest(&lengths, count, self.options.stable) {
            Some(positions) => self.merge(&positions, read_ahead).await,
            None => Ok(()),
        }
    }

    /// Merges runs until one merge is left, and begins that. No rows must be in memory.
    pub(super) async fn last_merge(mut self) -> Result<LastMerge, SpillError> {
        self.quiesce().await?;
        loop {
            let (fan_in, read_ahead) = self.fan_in()?;
            let Some(positions) = next_merge(&self.runs.lengths(), fan_in, self.options.stable) else {
                return self.begin_last_merge(read_ahead);
            };
            self.merge(&positions, read_ahead).await?;
        }
    }

    async fn merge(&mut self, positions: &[usize], read_ahead: usize) -> Result<(), SpillError> {
        let first = positions.first().copied().unwrap_or_default();
        let taken = self.runs.take(positions);
        self.count_lists()?;
        let rows = self.rows(Merge::of_runs(&self.space, &self.options.budget, taken, read_ahead)?)?;
        let appender = self.take_appender()?;
        let mut written = write_run(appender, Rc::clone(&self.tags), rows, None).await?;
        // What was merged is read again before it is known to be written otherwise.
        written.appender.drain().await?;
        self.state = Writing::Idle(written.appender);
        self.read_requests += written.read_requests;
        self.merges += 1;
        self.runs.insert(first, written.run);
        self.count_lists()
    }

    fn begin_last_merge(mut self, read_ahead: usize) -> Result<LastMerge, SpillError> {
        let written = self.take_appender()?.written;
        let (made, runs) = (self.runs.made, std::mem::take(&mut self.runs.all));
        drop(self.lists);
        let fan_in = runs.len() as u64;
        let SortOptions { budget, combine, limit, .. } = self.options;
        let merge = Merge::of_runs(&self.space, &budget, runs, read_ahead)?;
        let rows = Rows::new(&budget, merge, combine, limit.unwrap_or(u64::MAX))?;
        Ok(LastMerge {
            rows,
            fan_in,
            runs: made,
            merges: self.merges,
            written,
            read_requests: self.read_requests,
        })
    }

    /// How many runs can be merged at once, and how many reads are ahead.
    fn fan_in(&self) -> Result<(usize, usize), SpillError> {
        let budget = &self.options.budget;
        let by_run_bytes = self.runs.all.iter().map(run_overhead_bytes).max().unwrap_or_default();
        // The writer has the key of the row before.
        let row_bytes_max = self.runs.all.iter().map(|run| run.row_bytes_max).max().unwrap_or_default();
        let free_bytes = budget.free_bytes().saturating_sub(2 * row_bytes_max);
        // Reading ahead is given up before merging is.
        let with = |read_ahead| fan_in(free_bytes, self.plan.cluster_bytes, by_run_bytes, read_ahead);
        let Some(read_ahead) = (0..=self.plan.read_ahead).rev().find(|ahead| with(*ahead) >= 2) else {
            let used_bytes = budget.bytes() - free_bytes;
            return Err(SpillError::Memory {
                purpose: "merging two runs with rows as long as these",
                needed_bytes: (used_bytes + 2 * (self.plan.cluster_bytes + by_run_bytes)) as u64,
                budget_bytes: budget.bytes() as u64,
            });
        };
        let most = self.options.fan_in_max.unwrap_or(usize::MAX).max(2);
        Ok((with(read_ahead).min(most), read_ahead))
    }
}

/// Clusters and reads ahead by the costs of the device.
fn plan(
    handle: &Handle,
    place: Place,
    options: &SortOptions,
    buffers: &WriteBuffers,
    first: &Full,
) -> Result<MergePlan, SpillError> {
    let shape = handle.device(place.device).shape();
    let (block_bytes, transfer_bytes_max) =
        shape.map_or((1, u64::MAX), |shape| (shape.logical_block_bytes, shape.largest_transfer_bytes));
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let budget_bytes = options.budget.bytes();
    let run_bytes = first.rows.workspace().row_bytes();
    let longest = Run { row_bytes_max: first.row_bytes_max, ..Run::default() };
    let work = Work {
        // Of what isn't known so much is expected that it takes sixty-four runs.
        bytes: options.expected_bytes.unwrap_or(64 * run_bytes).max(2 * run_bytes),
        run_bytes,
        memory_bytes: budget_bytes - budget_bytes / 8,
        by_run_bytes: run_overhead_bytes(&longest),
        block_bytes: in_memory(block_bytes),
        cluster_bytes_max: in_memory(transfer_bytes_max).min(buffers.buffer_bytes()),
    };
    options.costs.choose(work, options.cluster_bytes).ok_or_else(|| SpillError::Memory {
        purpose: "merging two runs with rows as long as these",
        needed_bytes: (8 * (work.by_run_bytes + options.cluster_bytes.unwrap_or(work.block_bytes))) as u64,
        budget_bytes: budget_bytes as u64,
    })
}
