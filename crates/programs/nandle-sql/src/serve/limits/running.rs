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

/// A query's rows, as they come. The query belongs to a task of its own, which ends it at its deadline also while its reader does nothing, and
/// when this is dropped.
#[derive(Debug)]
pub(crate) struct Batches {
    schema: SchemaRef,
    /// `None` behind the last rows.
    receiver: Receiver<Result<Option<RecordBatch>, Ended>>,
}

/// What a query has taken. It has its place until this is dropped: what is done about it afterwards is work as well.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) account: Result<Account, EngineError>,
    pub(crate) place: Arc<Place>,
    /// Until when the query has time.
    pub(crate) until: Instant,
}

type Batch = Result<Option<RecordBatch>, Ended>;

impl Batches {
    pub(super) fn of(rows: Rows, place: Arc<Place>, until: (Instant, Duration)) -> Self {
        Self::ending(rows, place, until, |rows, place| drop((rows, place)))
    }

    /// And the query's account, which comes behind the last rows; none comes of a query that ended before.
    pub(super) fn counted(
        rows: Rows,
        place: Arc<Place>,
        until: (Instant, Duration),
    ) -> (Self, oneshot::Receiver<Counted>) {
        let (sender, counted) = oneshot::channel();
        let deadline = until.0;
        // It may have to decode a sample of what was read.
        let count = move |rows: Rows, place: Arc<Place>| {
            tokio::task::spawn_blocking(move || {
                // A reader that is gone needs no account.
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

    /// The columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows; `None` behind the last.
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
    // A reader that is gone needs no last word.
    let _ = sender.send(last).await;
}

/// Passes rows on until there are none, and returns what is behind them.
async fn pass(rows: &mut Rows, sender: &Sender<Batch>) -> Batch {
    while let Some(batch) = rows.next().await.map_err(Ended::Failed)? {
        if sender.send(Ok(Some(batch))).await.is_err() {
            break;
        }
    }
    Ok(None)
}
