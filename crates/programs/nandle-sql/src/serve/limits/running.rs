use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nandle_engine::{Account, EngineError, Rows};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::Ended;
use super::admission::Place;

/// Rows of a running query, as they arrive. A separate task owns the query, and ends it at its
/// deadline even if the reader is idle, and when this is dropped.
#[derive(Debug)]
pub(crate) struct Batches {
    schema: SchemaRef,
    /// Delivers `None` after the last rows.
    receiver: Receiver<Result<Option<RecordBatch>, Ended>>,
}

/// Account of a finished query. Holds its admission slot until dropped, so that work on the account
/// counts as well.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) account: Result<Account, EngineError>,
    pub(crate) place: Arc<Place>,
    /// Deadline of the query.
    pub(crate) until: Instant,
}

type Batch = Result<Option<RecordBatch>, Ended>;

impl Batches {
    pub(super) fn of(rows: Rows, place: Arc<Place>, until: (Instant, Duration)) -> Self {
        Self::ending(rows, place, until, |rows, place| drop((rows, place)))
    }

    /// Also delivers the query's account after the last rows; none if the query ends early.
    pub(super) fn counted(
        rows: Rows,
        place: Arc<Place>,
        until: (Instant, Duration),
    ) -> (Self, oneshot::Receiver<Counted>) {
        let (sender, counted) = oneshot::channel();
        let deadline = until.0;
        // May have to decode a sample of the data read.
        let count = move |rows: Rows, place: Arc<Place>| {
            tokio::task::spawn_blocking(move || {
                // The reader may be gone.
                let _ = sender.send(Counted { account: rows.account(), place, until: deadline });
            });
        };
        (Self::ending(rows, place, until, count), counted)
    }

    fn ending(
        rows: Rows,
        place: Arc<Place>,
        until: (Instant, Duration),
        count: impl FnOnce(Rows, Arc<Place>) + Send + 'static,
    ) -> Self {
        let schema = rows.schema().clone();
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(run(rows, place, until, sender, count));
        Self { schema, receiver }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Next rows; `None` at the end.
    pub(crate) async fn next(&mut self) -> Batch {
        let broken = || Err(Ended::Failed(EngineError::Interrupted));
        self.receiver.recv().await.unwrap_or_else(broken)
    }
}

async fn run(
    mut rows: Rows,
    place: Arc<Place>,
    (deadline, limit): (Instant, Duration),
    sender: Sender<Batch>,
    count: impl FnOnce(Rows, Arc<Place>) + Send,
) {
    let last = tokio::select! {
        () = sender.closed() => return,
        () = sleep_until(deadline) => Err(Ended::TimedOut(limit)),
        last = pass(&mut rows, &sender) => last,
    };
    match &last {
        Ok(_) => count(rows, place),
        Err(_) => drop((rows, place)),
    }
    // The reader may be gone.
    let _ = sender.send(last).await;
}

/// Passes rows on to the end, and returns the final message.
async fn pass(rows: &mut Rows, sender: &Sender<Batch>) -> Batch {
    while let Some(batch) = rows.next().await.map_err(Ended::Failed)? {
        if sender.send(Ok(Some(batch))).await.is_err() {
            break;
        }
    }
    Ok(None)
}
