use std::sync::Arc;

use arrow_array::RecordBatch;
use nandle_io::Nanos;
use nandle_reads::{HostCosts, Plan};

use super::metered::Spans;
use super::tally::{AllCounts, Tally};
use super::workers::{Done, Told, Workers};
use super::{CubeError, CubeRun, ThreadClock};
use crate::{CountMethod, CountReport};

/// Groups of a cube, in batches.
pub struct CubeResults {
    stage: Stage,
    /// Groups received but not yet returned.
    ready: Option<RecordBatch>,
    /// Groups received before all rows were counted, and their rows.
    early: CountReport,
    threads: usize,
    run: CubeRun,
    clock: ThreadClock,
    /// Processor time of the thread that takes results.
    span: Nanos,
}

#[expect(clippy::large_enum_variant, reason = "there is one of them")]
enum Stage {
    Counting(Box<InWork>),
    Counted(AllCounts),
    Failed,
}

/// Counting threads with their context.
pub(super) struct InWork {
    pub(super) workers: Workers,
    pub(super) tally: Tally,
    pub(super) planned: Arc<Plan>,
    pub(super) host: HostCosts,
    pub(super) consumers: usize,
    pub(super) done: Vec<Done>,
}

impl CubeResults {
    /// Waits for the first groups, so that earlier errors are returned here.
    pub(super) async fn begin(
        work: InWork,
        threads: usize,
        run: CubeRun,
        clock: ThreadClock,
    ) -> Result<Self, CubeError> {
        let stage = Stage::Counting(Box::new(work));
        let (early, span) = (CountReport::default(), Nanos::ZERO);
        let mut results = Self { stage, ready: None, early, threads, run, clock, span };
        results.ready = results.next_early().await?;
        Ok(results)
    }

    /// Returns the next groups: the columns' values, and `count`. `None` at the end.
    ///
    /// # Errors
    /// See [`scan_cube`](super::scan_cube).
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>, CubeError> {
        if let Some(ready) = self.ready.take() {
            return Ok(Some(ready));
        }
        if let Some(groups) = self.next_early().await? {
            return Ok(Some(groups));
        }
        let began_at = (self.clock)();
        let batch = match &mut self.stage {
            Stage::Counted(AllCounts::Runs(counts)) => counts.next_batch().await?,
            Stage::Counted(AllCounts::Memory(counts)) => counts.next_batch()?,
            Stage::Counting(_) | Stage::Failed => None,
        };
        self.span += (self.clock)().since(began_at);
        Ok(batch)
    }

    /// Returns groups received before all rows are counted; `None` after that or after an error.
    async fn next_early(&mut self) -> Result<Option<RecordBatch>, CubeError> {
        let next = self.next_of_work().await;
        if next.is_err() {
            self.stage = Stage::Failed;
        }
        next
    }

    async fn next_of_work(&mut self) -> Result<Option<RecordBatch>, CubeError> {
        while let Stage::Counting(work) = &mut self.stage {
            match work.workers.next()? {
                Some(Told::Groups(groups)) => {
                    self.early.groups += groups.num_rows() as u64;
                    return Ok(Some(groups));
                }
                Some(Told::Full { mut counter, emptied }) => {
                    let began_at = (self.clock)();
                    work.tally.spill(&mut counter).await?;
                    self.span += (self.clock)().since(began_at);
                    // A thread that has ended reports its own error.
                    let _ = emptied.send(counter);
                }
                Some(Told::Done(done)) => work.done.push(done),
                None => self.end_counting().await?,
            }
        }
        Ok(None)
    }

    /// Handles the end of counting.
    async fn end_counting(&mut self) -> Result<(), CubeError> {
        let Stage::Counting(work) = std::mem::replace(&mut self.stage, Stage::Failed) else { return Ok(()) };
        let InWork { workers, tally, planned, host, consumers, mut done } = *work;
        drop(workers);
        let mut spans = Spans::new();
        done.sort_by_key(|done| done.part);
        for done in &mut done {
            spans.append(&mut done.spans);
            self.early.rows += done.counted.rows;
        }
        self.run.add(&planned, host, &spans, consumers);
        let began_at = (self.clock)();
        let counters = done.into_iter().map(|done| done.counted.rest).collect();
        let counts = Box::pin(tally.finish(counters, self.threads, self.clock)).await?;
        self.span += (self.clock)().since(began_at);
        self.stage = Stage::Counted(counts);
        Ok(())
    }

    /// Report so far.
    pub fn finish(self) -> CubeRun {
        let Self { stage, early, threads, mut run, span, .. } = self;
        let (rest, threads_cpu) = match &stage {
            Stage::Counted(AllCounts::Runs(counts)) => (counts.report(), counts.threads_cpu()),
            Stage::Counted(AllCounts::Memory(counts)) => (counts.report(), counts.threads_cpu()),
            Stage::Counting(_) | Stage::Failed => (CountReport::default(), Nanos::ZERO),
        };
        let is_all_early = early.rows > 0 && rest.rows == 0 && rest.groups == 0;
        run.count = CountReport {
            method: if is_all_early { CountMethod::ByValue } else { rest.method },
            rows: early.rows + rest.rows,
            groups: early.groups + rest.groups,
            early_groups: early.groups,
            ..rest
        };
        run.add_results(span + Nanos(threads_cpu.0 / threads.max(1) as u64), span + threads_cpu);
        run
    }
}
