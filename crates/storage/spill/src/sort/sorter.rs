use std::sync::Arc;

use nandle_io::Nanos;
use nandle_io::runtime::Handle;

use super::condense::Condenser;
use super::division::MemoryDivision;
use super::finish::finish;
use super::full::Full;
use super::options::SortOptions;
use super::shared::{Done, Shared};
use super::sorted::{Sorted, span_ns};
use super::spill::Spill;
use super::workspace::Workspace;
use crate::SpillError;
use crate::rows::Row;
use crate::space::{Place, WriteBuffers};

/// Takes rows in any order, and gives them back in that of their keys.
///
/// What fits into memory is never written, nor what becomes few enough by a limit or by combining. Otherwise runs are written while the rows of the next one are taken, and
/// [`Sorted`] merges them. Several threads sort together by a [`ParallelSort`](crate::ParallelSort), which gives each of them a sorter.
pub struct Sorter {
    handle: Handle,
    shared: Arc<Shared>,
    /// Rows as they come; none while there is no memory for them.
    filling: Option<Workspace>,
    /// Which stretch of all rows they are, if there is one.
    stretch: Option<u64>,
    /// Rows that filled a workspace, and aren't written because there may be room for all.
    waiting: Option<(u64, Full)>,
    /// Where rows become fewer.
    condenser: Option<Condenser>,
    /// For writing; none once something has been written.
    buffers: Option<WriteBuffers>,
    spill: Option<Spill>,
    taken_bytes: usize,
    began_at: Option<Nanos>,
    done: Done,
}

impl Sorter {
    /// So many bytes of rows are taken before others get their turn: the run that is being written, and the device.
    pub const TURN_BYTES: usize = 32 << 10;

    /// A sorter with temporary space at `place`, of a device in the runtime's world.
    ///
    /// # Errors
    /// The budget is too small for the clusters that are asked for, or is taken by something else.
    pub fn new(handle: &Handle, place: Place, options: SortOptions) -> Result<Self, SpillError> {
        let memory = MemoryDivision::of(&options, 1)?;
        Self::of(handle, &Shared::new(place, options, memory)?)
    }

    pub(super) fn of(handle: &Handle, shared: &Arc<Shared>) -> Result<Self, SpillError> {
        let Shared { options, memory, .. } = &**shared;
        // These come first, so that what is behind them is one stretch when rows are gone.
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
            done: Done::default(),
        })
    }

    /// Takes a row.
    ///
    /// # Errors
    /// The row is longer than memory allows: the error says which budget would do. The temporary space is full, or its device failed:
    /// [`finish`](Self::finish) fails then, too.
    pub async fn push(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        if !self.try_push(row)? {
            self.make_room().await?;
            if !self.try_push(row)? {
                // Rows were condensed to what leaves no room for this one.
                self.spill().await?;
                let is_taken = self.try_push(row)?;
                debug_assert!(is_taken, "an empty workspace has room for a row that isn't too long");
            }
        }
        self.taken_bytes += Workspace::taken_by(row);
        if self.taken_bytes >= Self::TURN_BYTES {
            self.taken_bytes = 0;
            self.go_on().await?;
        }
        Ok(())
    }

    /// Takes a row if there is room for it in memory. False: it wasn't taken, and there must be [room](Self::make_room) first.
    ///
    /// # Errors
    /// The row is longer than memory allows, or something failed before.
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

    /// Lets the run that is being written, and the device, go on.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn go_on(&mut self) -> Result<(), SpillError> {
        if let Some(spill) = &mut self.spill {
            spill.go_on().await?;
            self.handle.yield_now().await;
        }
        Ok(())
    }

    fn too_long(&self, taken: usize) -> SpillError {
        let Shared { options, memory, .. } = &*self.shared;
        SpillError::Memory {
            purpose: "a row as long as this",
            // Merging two runs takes the most of it: both rows twice, and those that are put together of them.
            needed_bytes: (taken as u64).saturating_mul(8 * memory.sorters as u64),
            budget_bytes: options.budget.bytes() as u64,
        }
    }

    /// Sees to rows that fill the memory, so that there is room for others.
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
            // It takes the memory of the run that is being written.
            spill.wait_for_run().await?;
        }
        let filled = self.filling.take().ok_or(SpillError::Failed)?;
        let bytes = self.shared.memory.workspace_bytes;
        let fewer = condenser.condense(filled, bytes).await?;
        let is_long = fewer.taken_bytes() > bytes / 2;
        self.filling = Some(fewer);
        if is_long { self.spill().await } else { Ok(()) }
    }

    /// Sorts the rows in memory now, so that what comes next has less to do. There is no room until [that is made](Self::make_room).
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
            self.waiting = Some((stretch, Full::new(filled)));
        }
    }

    /// Takes rows out of memory, sorted, those that came first before others.
    fn next_sorted(&mut self) -> Option<(u64, Full)> {
        self.sort_filled();
        self.waiting.take()
    }

    /// Writes the rows that are in memory, sorted. There is room then.
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

    /// Begins to write a run; the one before is written then.
    async fn write(&mut self, stretch: u64, full: Full) -> Result<(), SpillError> {
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

    /// All rows were pushed: their order.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn finish(self) -> Result<Sorted, SpillError> {
        let (handle, shared) = (self.handle.clone(), Arc::clone(&self.shared));
        self.end().await?;
        finish(&handle, &shared).await
    }

    /// This sorter of a [`ParallelSort`](crate::ParallelSort) gets no more rows.
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
