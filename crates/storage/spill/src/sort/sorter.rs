use std::sync::Arc;

use nandle_io::Nanos;
use nandle_io::runtime::Handle;

use super::condense::Condenser;
use super::division::MemoryDivision;
use super::finish::finish;
use super::options::SortOptions;
use super::pending_run::PendingRun;
use super::shared::{Shared, SorterTotals};
use super::sorted::{Sorted, span_ns};
use super::spill::Spill;
use super::workspace::Workspace;
use crate::SpillError;
use crate::rows::Row;
use crate::space::{Place, WriteBuffers};

/// Sorts rows by their keys.
///
/// Rows that fit into memory, or that shrink to fit by a limit or by combining, are never written.
/// Otherwise a run is written while the rows of the next one are pushed, and [`Sorted`] merges the
/// runs. [`ParallelSort`](crate::ParallelSort) makes sorters for several threads.
pub struct Sorter {
    handle: Handle,
    shared: Arc<Shared>,
    /// Workspace for incoming rows; none while memory for it is unavailable.
    filling: Option<Workspace>,
    /// Stretch of the input that these rows belong to.
    stretch: Option<u64>,
    /// A full workspace that isn't written yet, because all rows may still fit into memory.
    waiting: Option<(u64, PendingRun)>,
    /// Present if rows are combined or limited.
    condenser: Option<Condenser>,
    /// Write buffers; none once something has been written.
    buffers: Option<WriteBuffers>,
    spill: Option<Spill>,
    taken_bytes: usize,
    began_at: Option<Nanos>,
    done: SorterTotals,
}

impl Sorter {
    /// Bytes of rows pushed before the sorter yields to the run being written and to the device.
    pub const TURN_BYTES: usize = 32 << 10;

    /// Creates a sorter with temporary space at `place`, on a device of the runtime's world.
    ///
    /// # Errors
    ///
    /// The budget is too small for the requested clusters, or partly in use.
    pub fn new(handle: &Handle, place: Place, options: SortOptions) -> Result<Self, SpillError> {
        let memory = MemoryDivision::of(&options, 1)?;
        Self::of(handle, &Shared::new(place, options, memory)?)
    }

    pub(super) fn of(handle: &Handle, shared: &Arc<Shared>) -> Result<Self, SpillError> {
        let Shared { options, memory, .. } = &**shared;
        // Buffers are allocated first, so that the memory behind them is contiguous once the rows
        // are gone.
        let buffers = WriteBuffers::new(&options.budget, memory.writes)?;
        let filling = Workspace::new(&options.budget, memory.workspace_bytes)?;
        Ok(Self {
            handle: handle.clone(),
            condenser: Condenser::of(options)?,
            shared: Arc::clone(shared),
            filling: Some(filling),
            stretch: None,
            waiting: None,
            buffers: Some(buffers),
            spill: None,
            taken_bytes: 0,
            began_at: None,
            done: SorterTotals::default(),
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// The row is too long for the budget: the error states a sufficient one. The temporary space
    /// is full, or its device failed: [`finish`](Self::finish) fails then, too.
    pub async fn push(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        if !self.try_push(row)? {
            self.make_room().await?;
            if !self.try_push(row)? {
                // The condensed rows leave no room for this one.
                self.spill().await?;
                let is_taken = self.try_push(row)?;
                debug_assert!(is_taken, "an empty workspace has room for a row that isn't too long");
            }
        }
        self.taken_bytes += Workspace::taken_by(row);
        if self.taken_bytes >= Self::TURN_BYTES {
            self.taken_bytes = 0;
            self.make_progress().await?;
        }
        Ok(())
    }

    /// Adds a row if there is room for it in memory. Returns false if it wasn't added: [make
    /// room](Self::make_room) first.
    ///
    /// # Errors
    /// The row is too long for the budget, or something failed before.
    pub fn try_push(&mut self, row: Row<'_>) -> Result<bool, SpillError> {
        let taken = Workspace::taken_by(row);
        if taken > self.shared.memory.workspace_bytes || u32::try_from(taken).is_err() {
            return Err(self.too_long(taken));
        }
        let is_beyond = self.condenser.as_ref().is_some_and(|condenser| condenser.is_beyond(row.key));
        if !is_beyond && !self.filling.as_mut().ok_or(SpillError::Failed)?.push(row) {
            return Ok(false);
        }
        if self.stretch.is_none() {
            self.stretch = Some(self.shared.next_stretch());
            self.began_at.get_or_insert_with(|| self.handle.now());
        }
        self.done.rows += 1;
        self.done.row_bytes += (row.key.len() + row.payload.len()) as u64;
        Ok(true)
    }

    /// Lets the run being written, and the device, proceed.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn make_progress(&mut self) -> Result<(), SpillError> {
        if let Some(spill) = &mut self.spill {
            spill.make_progress().await?;
            self.handle.yield_now().await;
        }
        Ok(())
    }

    fn too_long(&self, taken: usize) -> SpillError {
        let Shared { options, memory, .. } = &*self.shared;
        SpillError::Memory {
            purpose: "a row of this length",
            // Merging two runs needs the most memory: both rows twice, and the rows assembled from
            // them.
            needed_bytes: (taken as u64).saturating_mul(8 * memory.sorters as u64),
            budget_bytes: options.budget.bytes() as u64,
        }
    }

    /// Makes room for more rows by sorting, condensing or writing the rows in memory.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn make_room(&mut self) -> Result<(), SpillError> {
        let Some(condenser) = &mut self.condenser else {
            let has_another = self.shared.memory.has_another();
            if has_another && self.waiting.is_none() && self.spill.is_none() {
                self.sort();
                return self.begin_filling();
            }
            return self.spill().await;
        };
        if let Some(spill) = &mut self.spill {
            // Condensing needs the memory of the run being written.
            spill.wait_for_run().await?;
        }
        let filled = self.filling.take().ok_or(SpillError::Failed)?;
        let bytes = self.shared.memory.workspace_bytes;
        let fewer = condenser.condense(filled, bytes).await?;
        let is_long = fewer.taken_bytes() > bytes / 2;
        self.filling = Some(fewer);
        if is_long { self.spill().await } else { Ok(()) }
    }

    /// Sorts the rows in memory early, so that later steps have less to do. No rows fit until [room
    /// is made](Self::make_room).
    pub fn sort(&mut self) {
        if self.condenser.is_none() {
            self.sort_filled();
        }
    }

    fn sort_filled(&mut self) {
        if self.waiting.is_some() {
            return;
        }
        if let Some(filled) = self.filling.take_if(|filled| !filled.is_empty()) {
            let Some(stretch) = self.stretch.take() else { unreachable!("rows are a stretch of all") };
            self.waiting = Some((stretch, PendingRun::new(filled)));
        }
    }

    /// Takes sorted rows out of memory, in the order in which they were pushed.
    fn next_sorted(&mut self) -> Option<(u64, PendingRun)> {
        self.sort_filled();
        self.waiting.take()
    }

    /// Writes the rows in memory as runs, which makes room.
    async fn spill(&mut self) -> Result<(), SpillError> {
        while let Some((stretch, full)) = self.next_sorted() {
            self.write(stretch, full).await?;
        }
        match &self.filling {
            None => self.begin_filling(),
            Some(_) => Ok(()),
        }
    }

    fn begin_filling(&mut self) -> Result<(), SpillError> {
        let Shared { options, memory, .. } = &*self.shared;
        let spare = self.spill.as_mut().and_then(Spill::take_spare);
        self.filling = Some(match spare {
            Some(spare) => spare,
            None => Workspace::new(&options.budget, memory.workspace_bytes)?,
        });
        Ok(())
    }

    /// Starts to write a run, after completing the previous one.
    async fn write(&mut self, stretch: u64, full: PendingRun) -> Result<(), SpillError> {
        if let Some(buffers) = self.buffers.take() {
            let layout = self.shared.layout(&self.handle, &full)?;
            self.spill = Some(Spill::new(&self.handle, &self.shared, layout, buffers)?);
        }
        let memory = self.shared.memory;
        let spill = self.spill.as_mut().ok_or(SpillError::Failed)?;
        spill.begin_run(stretch, full).await?;
        if !memory.has_another() {
            spill.wait_for_run().await?;
        }
        spill.shorten_lists().await
    }

    /// Ends the input. Returns the sorted rows.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn finish(self) -> Result<Sorted, SpillError> {
        let (handle, shared) = (self.handle.clone(), Arc::clone(&self.shared));
        self.end().await?;
        finish(&handle, &shared).await
    }

    /// Ends the input of this sorter of a [`ParallelSort`](crate::ParallelSort).
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn end(mut self) -> Result<(), SpillError> {
        let has_spilled = self.shared.has_spilled();
        while let Some((stretch, full)) = self.next_sorted() {
            if has_spilled {
                self.write(stretch, full).await?;
            } else {
                self.shared.state().in_memory.push((stretch, full));
            }
        }
        let mut done = self.done;
        if let Some(spill) = self.spill.take() {
            spill.finish(&mut done).await?;
        }
        done.run_ns = span_ns(self.began_at.unwrap_or_else(|| self.handle.now()), self.handle.now());
        self.shared.add_done(done);
        Ok(())
    }
}
