//! How many queries run at once, and for how long: for servers of any protocol. Giving up what `run` returns, or waiting for it, ends the query.

mod admission;
mod client;
mod running;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use nandle_engine::{EngineError, Rows};
use tokio::sync::oneshot::Receiver;
use tokio::time::{Instant, timeout_at};

use admission::Admission;
pub(crate) use admission::Place;
pub(crate) use client::ClientPlace;
pub(crate) use running::{Batches, Counted};

/// More than so many queries don't wait: what comes last would have its answer long after its client has given up.
const WAITING_MOST: usize = 64;

/// Why a query has no rows, or no more.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Too many others wait already.
    Full {
        /// That run.
        running: usize,
        /// That wait.
        waiting: usize,
    },
    /// It took too long.
    TimedOut(Duration),
    /// It failed.
    Failed(EngineError),
}

/// Limits that all queries of a server share.
#[derive(Debug)]
pub(crate) struct Limits {
    admission: Admission,
    /// What comes before queries has places of its own: a client waits for none of them while it has one of the others.
    preparing: Admission,
    time_limit: Duration,
}

impl Limits {
    /// So many queries run at once, each for so long at most.
    pub(crate) fn new(queries: NonZeroUsize, time_limit: Duration) -> Self {
        let admission = Admission::new(queries, WAITING_MOST);
        // As many wait as there are clients.
        Self { admission, preparing: Admission::new(queries, usize::MAX), time_limit }
    }

    /// Does what comes before a query, as understanding its text, within the time of one. As many do at once as queries may run. It isn't stopped when
    /// nothing waits for it any more, and has its place until it is done.
    pub(crate) async fn prepare<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, Ended> {
        let deadline = Instant::now() + self.time_limit;
        let late = |_| Ended::TimedOut(self.time_limit);
        let place = timeout_at(deadline, self.preparing.admit()).await.map_err(late)??;
        let task = tokio::spawn(async move {
            let done = work.await;
            drop(place);
            done
        });
        let done = timeout_at(deadline, task).await.map_err(late)?;
        done.unwrap_or(Err(EngineError::Interrupted)).map_err(Ended::Failed)
    }

    /// Starts a query when there is a place for it, or its client has one already. `asked` is what its client allows it, which counts if it is less.
    pub(crate) async fn run(
        &self,
        client: &ClientPlace,
        asked: Option<Duration>,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<Batches, Ended> {
        let started = self.start(client.admit(&self.admission), asked, start);
        let (rows, place, until) = Box::pin(started).await?;
        Ok(Batches::of(rows, place, until))
    }

    /// Starts a query when there is a place for it. Behind the last rows comes what it has taken, and its place with it.
    pub(crate) async fn run_counted(
        &self,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<(Batches, Receiver<Counted>), Ended> {
        let admitted = async { self.admission.admit().await.map(Arc::new) };
        let (rows, place, until) = Box::pin(self.start(admitted, None, start)).await?;
        Ok(Batches::counted(rows, place, until))
    }

    async fn start(
        &self,
        admitted: impl Future<Output = Result<Arc<Place>, Ended>>,
        asked: Option<Duration>,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<(Rows, Arc<Place>, (Instant, Duration)), Ended> {
        let limit = asked.map_or(self.time_limit, |asked| asked.min(self.time_limit));
        let deadline = Instant::now() + limit;
        let started = async {
            let place = admitted.await?;
            let rows = start.await.map_err(Ended::Failed)?;
            Ok((place, rows))
        };
        let (place, rows) = timeout_at(deadline, started).await.map_err(|_| Ended::TimedOut(limit))??;
        Ok((rows, place, (deadline, limit)))
    }
}
