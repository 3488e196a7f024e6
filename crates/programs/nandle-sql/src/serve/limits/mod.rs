//! Limits on concurrent queries and their time, independent of the protocol. Dropping the result of
//! `run`, or the future, cancels the query.

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

/// Bound on the queue: the last in a longer one would be answered after its client has given up.
const WAITING_MOST: usize = 64;

/// Reason why a query returns no rows, or no more.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The queue is full.
    Full {
        /// Running queries.
        running: usize,
        /// Queued queries.
        waiting: usize,
    },
    /// The time limit expired.
    TimedOut(Duration),
    Failed(EngineError),
}

/// Limits shared by all queries of a server.
#[derive(Debug)]
pub(crate) struct Limits {
    admission: Admission,
    /// Separate slots for planning, which thus never waits for running queries.
    preparing: Admission,
    time_limit: Duration,
}

impl Limits {
    /// Allows `queries` concurrent queries, each for at most `time_limit`.
    pub(crate) fn new(queries: NonZeroUsize, time_limit: Duration) -> Self {
        let admission = Admission::new(queries, WAITING_MOST);
        // At most as many wait as there are clients.
        Self { admission, preparing: Admission::new(queries, usize::MAX), time_limit }
    }

    /// Runs preparatory work, such as planning, within a query's time limit. At most as many run at
    /// once as queries may. The work isn't cancelled, and holds its slot until it finishes.
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

    /// Starts a query once there is a slot, or in its client's slot. The client's time limit
    /// `asked` applies if it is shorter.
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

    /// Starts a query once there is a slot. After the last rows it delivers the query's account
    /// together with the slot.
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
