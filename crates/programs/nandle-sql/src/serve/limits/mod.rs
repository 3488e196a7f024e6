//! How many queries run at once, and for how long: for servers of any protocol. Giving up what `run` returns, or waiting for it, ends the query.

mod admission;
mod running;

use std::num::NonZeroUsize;
use std::time::Duration;

use nandle_engine::{Account, EngineError, Rows};
use tokio::sync::oneshot::Receiver;
use tokio::time::{Instant, timeout_at};

use admission::{Admission, Place};
pub(crate) use running::Batches;

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
    time_limit: Duration,
}

impl Limits {
    /// So many queries run at once, each for so long at most.
    pub(crate) fn new(queries: NonZeroUsize, time_limit: Duration) -> Self {
        Self { admission: Admission::new(queries), time_limit }
    }

    /// How long a query may take, from when it is asked for to its last row.
    pub(crate) fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Starts a query when there is a place for it. `asked` is what its client allows it, which counts if it is less.
    pub(crate) async fn run(
        &self,
        asked: Option<Duration>,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<Batches, Ended> {
        let (rows, place, until) = Box::pin(self.start(asked, start)).await?;
        Ok(Batches::of(rows, place, until))
    }

    /// As [`run`](Self::run); behind the last rows comes what the query has taken.
    pub(crate) async fn run_counted(
        &self,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<(Batches, Receiver<Result<Account, EngineError>>), Ended> {
        let (rows, place, until) = Box::pin(self.start(None, start)).await?;
        Ok(Batches::counted(rows, place, until))
    }

    async fn start(
        &self,
        asked: Option<Duration>,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> Result<(Rows, Place, (Instant, Duration)), Ended> {
        let limit = asked.map_or(self.time_limit, |asked| asked.min(self.time_limit));
        let deadline = Instant::now() + limit;
        let started = async {
            let place = self.admission.admit().await?;
            let rows = start.await.map_err(Ended::Failed)?;
            Ok((place, rows))
        };
        let (place, rows) = timeout_at(deadline, started).await.map_err(|_| Ended::TimedOut(limit))??;
        Ok((rows, place, (deadline, limit)))
    }
}
