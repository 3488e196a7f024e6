//! State shared by the sorters of one sort, each in its own thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nandle_io::runtime::Handle;

use super::division::MemoryDivision;
use super::options::SortOptions;
use super::pending_run::PendingRun;
use super::runs::{PlacedRun, RunList};
use crate::SpillError;
use crate::budget::Grant;
use crate::costs::{EXPECTED_BYTES_MAX, Work};
use crate::merge::{MergePlan, Run, Tags, run_overhead_bytes};
use crate::space::{Area, Division, Place, Space, WriteCounts};

const LISTS: &str = "lists of runs";

/// State shared by all sorters; see the [module](self).
pub(super) struct Shared {
    pub(super) options: SortOptions,
    pub(super) place: Place,
    pub(super) memory: MemoryDivision,
    next_stretch: AtomicU64,
    state: Mutex<State>,
}

pub(super) struct State {
    /// None until something is written.
    pub(super) layout: Option<Arc<Layout>>,
    pub(super) runs: RunList,
    /// True while a sorter merges runs. Only one may, so that the memory of the others isn't
    /// fragmented.
    pub(super) is_merging: bool,
    lists_bytes_max: usize,
    lists: Grant,
    /// Rows in memory of sorters that have ended.
    pub(super) in_memory: Vec<(u64, PendingRun)>,
    pub(super) done: SorterTotals,
}

/// Layout of the temporary space.
pub(super) struct Layout {
    pub(super) plan: MergePlan,
    pub(super) area: Arc<Area>,
    pub(super) tags: Arc<Tags>,
}

/// Work done by the sorters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SorterTotals {
    pub(super) rows: u64,
    pub(super) row_bytes: u64,
    pub(super) merges: u64,
    pub(super) read_requests: u64,
    pub(super) written: WriteCounts,
    /// Time of the slowest sorter, from its first row on.
    pub(super) run_ns: u64,
}

impl Shared {
    pub(super) fn new(
        place: Place,
        options: SortOptions,
        memory: MemoryDivision,
    ) -> Result<Arc<Self>, SpillError> {
        let state = State {
            layout: None,
            runs: RunList::default(),
            is_merging: false,
            lists_bytes_max: memory.lists_bytes,
            lists: options.budget.count(LISTS, 0)?,
            in_memory: Vec::new(),
            done: SorterTotals::default(),
        };
        Ok(Arc::new(Self {
            options,
            place,
            memory,
            next_stretch: AtomicU64::new(0),
            state: Mutex::new(state),
        }))
    }

    /// Returns the number of the next stretch: consecutive rows pushed into one workspace.
    pub(super) fn next_stretch(&self) -> u64 {
        self.next_stretch.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if any sorter has written rows or is about to.
    pub(super) fn has_spilled(&self) -> bool {
        self.state().layout.is_some()
    }

    /// Chooses the clusters by the first rows to be written.
    pub(super) fn layout(&self, handle: &Handle, first: &PendingRun) -> Result<Arc<Layout>, SpillError> {
        let mut state = self.state();
        if let Some(layout) = &state.layout {
            return Ok(Arc::clone(layout));
        }
        let plan = self.plan(handle, first)?;
        let cluster_bytes = plan.cluster_bytes as u64;
        let zone_bytes = self.options.costs.zone_bytes.min(self.place.length_bytes).max(cluster_bytes);
        let zone_bytes = zone_bytes - zone_bytes % cluster_bytes;
        let division = Division { cluster_bytes: plan.cluster_bytes, zone_bytes };
        let area = Area::new(&Space::shape(handle, self.place)?, self.place, division)?;
        let layout = Arc::new(Layout { plan, area, tags: Arc::new(Tags::new(first.common())) });
        state.layout = Some(Arc::clone(&layout));
        Ok(layout)
    }

    /// Chooses cluster size and read-ahead by the costs of the device.
    fn plan(&self, handle: &Handle, first: &PendingRun) -> Result<MergePlan, SpillError> {
        let SortOptions { budget, costs, expected_bytes, cluster_bytes, .. } = &self.options;
        let shape = Space::shape(handle, self.place)?;
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let run_bytes = first.row_bytes();
        let longest = Run { row_bytes_max: first.row_bytes_max, ..Run::default() };
        let work = Work {
            // An input of unknown size is taken to be 64 runs.
            bytes: expected_bytes.unwrap_or(64 * run_bytes).max(2 * run_bytes).min(EXPECTED_BYTES_MAX),
            run_bytes,
            // The rest is for lists and for rows being written.
            memory_bytes: budget.bytes() - budget.bytes() / 8,
            by_run_bytes: run_overhead_bytes(&longest),
            block_bytes: in_memory(shape.logical_block_bytes),
            cluster_bytes_max: in_memory(shape.largest_transfer_bytes).min(self.memory.writes.buffer_bytes),
        };
        costs.choose(work, *cluster_bytes).ok_or_else(|| SpillError::Memory {
            purpose: "merging two runs with rows of this length",
            needed_bytes: (8 * (work.by_run_bytes + cluster_bytes.unwrap_or(work.block_bytes))) as u64,
            budget_bytes: budget.bytes() as u64,
        })
    }

    /// Adds the statistics of a sorter that has ended.
    pub(super) fn add_done(&self, done: SorterTotals) {
        let mut state = self.state();
        let all = &mut state.done;
        all.rows += done.rows;
        all.row_bytes += done.row_bytes;
        all.merges += done.merges;
        all.read_requests += done.read_requests;
        all.written.requests += done.written.requests;
        all.written.bytes += done.written.bytes;
        all.run_ns = all.run_ns.max(done.run_ns);
    }
}

impl State {
    /// Adds a run.
    pub(super) fn insert(&mut self, placed: PlacedRun) -> Result<(), SpillError> {
        self.runs.insert(placed);
        self.count_lists()
    }

    /// Updates the memory charged for lists of runs.
    pub(super) fn count_lists(&mut self) -> Result<(), SpillError> {
        self.lists.resize(LISTS, self.runs.list_bytes())
    }

    /// Maximum total length of the edges of a run that may be extended, or none if the lists are
    /// long. Runs that extend each other can't be merged to shorten their lists, so long lists
    /// force a new run.
    pub(super) fn edges_bytes_max(&self) -> Option<usize> {
        (2 * self.lists.bytes() <= self.lists_bytes_max).then_some(self.lists_bytes_max / 4)
    }

    /// Returns true if the caller should merge runs now. Only one caller at a time gets true.
    pub(super) fn may_merge(&mut self) -> bool {
        let may_merge = self.lists_are_full() && !self.is_merging;
        self.is_merging |= may_merge;
        may_merge
    }

    /// Returns true if runs should be merged before any are added.
    pub(super) fn lists_are_full(&self) -> bool {
        // A list needs more memory for a moment while it grows.
        3 * self.lists.bytes() > 2 * self.lists_bytes_max && self.runs.len() > 2
    }
}
