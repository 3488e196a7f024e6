use nandle_io::Nanos;
use nandle_io::runtime::Handle;

use super::condense::Condenser;
use super::division::Division;
use super::options::SortOptions;
use super::runs::of_memory;
use super::sorted::{SortReport, Sorted, span_ns};
use super::spill::{Full, LastMerge, Spill};
use super::workspace::Workspace;
use crate::SpillError;
use crate::merge::Rows;
use crate::rows::Row;
use crate::space::{Place, WriteBuffers};

/// So many bytes of rows are taken before others get their turn: the run that is being written, and the device.
const TURN_BYTES: usize = 32 << 10;

/// Takes rows in any order, and gives them back in that of their keys.
///
/// What fits into memory is never written, nor what becomes few enough by a limit or by combining. Otherwise runs are written while the rows of the next one are taken, and
/// [`Sorted`] merges them.
pub struct Sorter {
    handle: Handle,
    place: Place,
    options: SortOptions,
    memory: Division,
    /// Rows as they come; none while there is no memory for them.
    filling: Option<Workspace>,
    /// Rows that filled a workspace, and aren't written because the other one has room.
    waiting: Option<Full>,
    /// Where rows become fewer.
    condenser: Option<Condenser>,
    /// For writing; none once something has been written.
    buffers: Option<WriteBuffers>,
    spill: Option<Spill>,
    taken_bytes: usize,
    began_at: Option<Nanos>,
    report: SortReport,
}

impl Sorter {
    /// A sorter with temporary space at `place`, of a device in the runtime's world.
    ///
    /// # Errors
    /// The budget is too small for the clusters that are asked for, or is taken by something else.
    pub fn new(handle: &Handle, place: Place, options: SortOptions) -> Result<Self, SpillError> {
        let memory = Division::of(&options)?;
        // These come first, so that what is behind them is one stretch when rows are gone.
        let buffers = WriteBuffers::new(&options.budget, memory.writes)?;
        let filling = Workspace::new(&options.budget, memory.workspace_bytes)?;
        let condenser = Condenser::of(&options)?;
        Ok(Self {
            handle: handle.clone(),
            condenser,
            place,
            options,
            memory,
            filling: Some(filling),
            waiting: None,
            buffers: Some(buffers),
            spill: None,
            taken_bytes: 0,
            began_at: None,
            report: SortReport::default(),
        })
    }

    /// Takes a row.
    ///
    /// # Errors
    /// The row is longer than memory allows: the error says which budget would do. The temporary space is full, or its device failed:
    /// [`finish`](Self::finish) fails then, too.
    pub async fn push(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        self.began_at.get_or_insert_with(|| self.handle.now());
        let taken = Workspace::taken_by(row);
        if u32::try_from(taken).is_err() {
            return Err(self.too_long(taken));
        }
        let is_beyond = self.condenser.as_ref().is_some_and(|condenser| condenser.is_beyond(row.key));
        if !is_beyond && !self.filling.as_mut().is_some_and(|filling| filling.push(row)) {
            self.make_room(row).await?;
        }
        self.report.rows += 1;
        self.report.row_bytes += (row.key.len() + row.payload.len()) as u64;
        self.taken_bytes += taken;
        if self.taken_bytes >= TURN_BYTES {
            self.taken_bytes = 0;
            self.go_on().await?;
        }
        Ok(())
    }

    /// Lets the run that is being written, and the device, go on.
    async fn go_on(&mut self) -> Result<(), SpillError> {
        if let Some(spill) = &mut self.spill {
            spill.go_on().await?;
            self.handle.yield_now().await;
        }
        Ok(())
    }

    fn too_long(&self, taken: usize) -> SpillError {
        SpillError::Memory {
            purpose: "a row as long as this",
            // Merging two runs takes the most of it: both rows twice, and those that are put together of them.
            needed_bytes: (taken as u64).saturating_mul(8),
            budget_bytes: self.options.budget.bytes() as u64,
        }
    }

    async fn make_room(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        let taken = Workspace::taken_by(row);
        if taken > self.memory.workspace_bytes {
            return Err(self.too_long(taken));
        }
        let filled = self.filling.take().ok_or(SpillError::Failed)?;
        let mut filling = self.empty(filled).await?;
        if !filling.push(row) {
            // It was condensed to what leaves no room for this one.
            self.write(Full::new(filling)).await?;
            filling = Workspace::new(&self.options.budget, self.memory.workspace_bytes)?;
            let is_taken = filling.push(row);
            debug_assert!(is_taken, "an empty workspace has room for a row of {taken} bytes");
        }
        self.filling = Some(filling);
        Ok(())
    }

    /// Sees to what is in a full workspace. Returns one with room.
    async fn empty(&mut self, filled: Workspace) -> Result<Workspace, SpillError> {
        let bytes = self.memory.workspace_bytes;
        if let Some(condenser) = &mut self.condenser {
            if let Some(spill) = &mut self.spill {
                // It takes the memory of the run that is being written.
                spill.wait_for_run().await?;
            }
            let condensed = condenser.condense(filled, bytes).await?;
            if condensed.taken_bytes() <= bytes / 2 {
                return Ok(condensed);
            }
            self.write(Full::new(condensed)).await?;
        } else if self.waiting.is_none() && self.spill.is_none() {
            self.waiting = Some(Full::new(filled));
        } else {
            self.write(Full::new(filled)).await?;
        }
        Workspace::new(&self.options.budget, bytes)
    }

    /// Begins to write a run; the one before is written then.
    async fn write(&mut self, full: Full) -> Result<(), SpillError> {
        if let Some(first) = self.waiting.take() {
            self.spill_to(&first)?.begin_run(first).await?;
        }
        let spill = self.spill_to(&full)?;
        spill.begin_run(full).await?;
        if spill.lists_are_full() {
            spill.merge_some().await?;
        }
        Ok(())
    }

    fn spill_to(&mut self, first: &Full) -> Result<&mut Spill, SpillError> {
        let Self { handle, place, options, memory, buffers, spill, .. } = self;
        if let Some(buffers) = buffers.take() {
            *spill = Some(Spill::new(handle, *place, options, *memory, buffers, first)?);
        }
        spill.as_mut().ok_or(SpillError::Failed)
    }

    /// All rows were pushed: their order.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub async fn finish(mut self) -> Result<Sorted, SpillError> {
        let filled = self.filling.take().ok_or(SpillError::Failed)?;
        if self.spill.is_none() && self.buffers.is_some() {
            return self.sorted_in_memory(filled);
        }
        if !filled.is_empty() {
            self.write(Full::new(filled)).await?;
        }
        let Self { spill, mut report, handle, began_at, options, .. } = self;
        let mut spill = spill.ok_or(SpillError::Failed)?;
        spill.wait_for_run().await?;
        let runs_made_at = handle.now();
        let plan = spill.plan;
        let LastMerge { rows, fan_in, runs, merges, written, read_requests } = spill.last_merge().await?;
        report.run_ns = span_ns(began_at.unwrap_or_default(), runs_made_at);
        report.merge_ns = span_ns(runs_made_at, handle.now());
        report.predicted = Some(plan);
        report.cluster_bytes = plan.cluster_bytes;
        (report.runs, report.merges, report.last_fan_in) = (runs, merges, fan_in);
        (report.written_bytes, report.write_requests) = (written.bytes, written.requests);
        report.read_requests = read_requests;
        Ok(Sorted::new(rows, report, options.budget))
    }

    fn sorted_in_memory(self, filled: Workspace) -> Result<Sorted, SpillError> {
        let Self { options, waiting, mut report, handle, began_at, .. } = self;
        let sources = waiting.map(Full::into_rows).into_iter().chain([filled.into_sorted()]);
        let merge = of_memory(sources.collect());
        report.run_ns = span_ns(began_at.unwrap_or_default(), handle.now());
        let limit = options.limit.unwrap_or(u64::MAX);
        let rows = Rows::new(&options.budget, merge, options.combine, limit)?;
        Ok(Sorted::new(rows, report, options.budget))
    }
}
