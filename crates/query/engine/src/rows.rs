use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use futures_util::stream::StreamExt as _;

use crate::ending::end_joins;
use crate::run::{Run, Started, Tasks};
use crate::scan::scan_of;
use crate::threads::Threads;
use crate::{Account, EngineError};

/// Interval at which a waiting caller checks whether the rows are still wanted.
const ASKED_AFTER: Duration = Duration::from_millis(20);

/// Result of a wait.
enum Taken {
    Rows(Option<RecordBatch>),
    Again(Box<Run>, EngineError),
}

/// Rows of a statement as a stream. Dropping it ends the statement and stops its reads.
pub struct Rows {
    /// Dropped before the threads that it runs in.
    stream: Option<SendableRecordBatchStream>,
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    threads: Arc<Threads>,
    tasks: Option<Tasks>,
    /// Restart of the statement; `None` after its first rows.
    again: Option<Run>,
    spills_joins: bool,
}

impl Rows {
    /// Plans and starts a statement.
    pub(crate) async fn start(run: Run, threads: Arc<Threads>) -> Result<Self, EngineError> {
        let again = run.clone();
        let started = threads.plan(Box::pin(async move { run.start().await })).await?; // it is large
        let Started { plan, stream, tasks } = started;
        let schema = stream.schema();
        let stream = Some(computed_in(&threads, stream));
        Ok(Self {
            stream,
            plan,
            schema,
            threads,
            tasks: Some(tasks),
            again: Some(again),
            spills_joins: false,
        })
    }

    /// True if its joins exceeded the memory, so that it restarted with joins that may spill.
    pub fn spills_joins(&self) -> bool {
        self.spills_joins
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Bytes written to temporary files so far.
    pub fn spilled_bytes(&self) -> u64 {
        spilled_bytes(&self.plan)
    }

    /// Resources used so far, with the predictions. May read and decode samples of columns, so it
    /// blocks.
    ///
    /// # Errors
    /// The plan can't be traversed, which is a defect of the engine.
    pub fn account(&self) -> Result<Account, EngineError> {
        Account::of(&self.plan, self.spilled_bytes())
    }

    /// Waits for the next rows; `None` after the last. Calls `is_over` periodically to check
    /// whether they are still wanted.
    ///
    /// # Errors
    /// The statement failed, or is over.
    pub fn next_batch(&mut self, is_over: &dyn Fn() -> bool) -> Result<Option<RecordBatch>, EngineError> {
        loop {
            let Some(rows) = self.stream.as_mut() else { return Ok(None) };
            let next = wait(&self.threads, rows, is_over)
                .and_then(|next| next.transpose().map_err(EngineError::from));
            match self.taken(next)? {
                Taken::Rows(batch) => return Ok(batch),
                Taken::Again(run, error) => {
                    let threads = Arc::clone(&self.threads);
                    threads.block_on(self.begin_again(*run, error))?;
                }
            }
        }
    }

    /// Returns the next rows, for asynchronous callers in any runtime; `None` after the last.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, EngineError> {
        loop {
            let Some(rows) = self.stream.as_mut() else { return Ok(None) };
            let next = rows.next().await.transpose().map_err(EngineError::from);
            match self.taken(next)? {
                Taken::Rows(batch) => return Ok(batch),
                Taken::Again(run, error) => self.begin_again(*run, error).await?,
            }
        }
    }

    /// Hands out rows, or restarts the statement.
    fn taken(&mut self, next: Result<Option<RecordBatch>, EngineError>) -> Result<Taken, EngineError> {
        let again = self.again.take();
        match (next, again) {
            (Ok(Some(batch)), _) => Ok(Taken::Rows(Some(batch))),
            (Err(error), Some(run)) if Run::can_spill_instead(&self.plan, &error) => {
                self.end();
                Ok(Taken::Again(Box::new(run), error))
            }
            (next, _) => {
                self.end();
                next.map(Taken::Rows)
            }
        }
    }

    async fn begin_again(&mut self, run: Run, ended_by: EngineError) -> Result<(), EngineError> {
        let Some(before) = self.tasks.take() else { return Err(ended_by) };
        // A broadcast join's plan keeps the rows that it gathered.
        self.plan = Arc::new(EmptyExec::new(Arc::clone(&self.schema)));
        let Started { plan, stream, tasks } =
            self.threads.plan(Box::pin(async move { run.start_spilling(before).await })).await?;
        self.stream = Some(computed_in(&self.threads, stream));
        (self.plan, self.tasks, self.spills_joins) = (plan, Some(tasks), true);
        Ok(())
    }

    fn end(&mut self) {
        stop(&self.plan);
        let _inside = self.threads.enter();
        self.stream = None;
    }
}

/// Ends reads and joins regardless of the operators' state.
fn stop(plan: &Arc<dyn ExecutionPlan>) {
    if let Some(scan) = scan_of(plan) {
        scan.stop();
    }
    end_joins(plan);
    plan.children().into_iter().for_each(stop);
}

fn spilled_bytes(plan: &Arc<dyn ExecutionPlan>) -> u64 {
    let own = plan.metrics().and_then(|metrics| metrics.spilled_bytes()).unwrap_or_default();
    own as u64 + plan.children().into_iter().map(spilled_bytes).sum::<u64>()
}

/// Runs operators in the engine's threads, since they may compute without yielding. A panic becomes
/// an error.
fn computed_in(threads: &Threads, stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let _inside = threads.enter();
    let mut rows = RecordBatchReceiverStream::builder(stream.schema(), 1);
    let sender = rows.tx();
    let mut stream = AssertUnwindSafe(stream).catch_unwind();
    rows.spawn(async move {
        while let Some(next) = stream.next().await {
            let next = next.unwrap_or_else(|panic| Err(EngineError::panicked(panic.as_ref()).into()));
            if sender.send(next).await.is_err() {
                break;
            }
        }
        Ok(())
    });
    rows.build()
}

/// Doesn't use the runtime's timers: they stop while all its threads compute.
fn wait(
    threads: &Threads,
    rows: &mut SendableRecordBatchStream,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<Result<RecordBatch, DataFusionError>>, EngineError> {
    let waker = Waker::from(Arc::new(Caller(std::thread::current())));
    loop {
        let polled = poll_fn(|_| Poll::Ready(rows.poll_next_unpin(&mut Context::from_waker(&waker))));
        if let Poll::Ready(next) = threads.block_on(polled) {
            return Ok(next);
        }
        if is_over() {
            return Err(EngineError::Interrupted);
        }
        std::thread::park_timeout(ASKED_AFTER);
    }
}

/// Waker of the waiting thread.
struct Caller(Thread);

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use arrow_schema::Schema;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use futures_util::stream;

    use super::*;

    #[test]
    fn a_panic_of_an_operator_is_an_error() {
        let threads = Threads::start(NonZeroUsize::MIN).unwrap();
        let operator = stream::poll_fn(|_| panic!("an operator's own words"));
        let rows = RecordBatchStreamAdapter::new(Arc::new(Schema::empty()), operator);
        let mut rows = computed_in(&threads, Box::pin(rows));
        let first = wait(&threads, &mut rows, &|| false).unwrap().unwrap().unwrap_err();
        let error = EngineError::from(first);
        assert_eq!(error.kind(), crate::ErrorKind::Internal);
        assert!(error.to_string().contains("an operator's own words"), "{error}");
    }
}
