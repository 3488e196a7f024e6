//! Liveness checks of a query's workers, on separate connections.

use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use futures_util::future::join_all;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use url::Url;

use super::roster::{Roster, Worker};
use crate::WorkerError;
use crate::connection::{Connections, shown, worker_named};
use crate::wire::{ALIVE, HELD};

/// Interval of the checks; with the timeout of an answer it is below 5 s.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Limit on the wait for memory of failed queries, and interval of the checks.
const FREED_WITHIN: Duration = Duration::from_secs(5);
const FREED_ASKED_AFTER: Duration = Duration::from_millis(25);
/// Equal answers after which no more memory is expected to be freed.
const EQUAL_ANSWERS: u32 = 16;
/// Share of a worker's memory (1 / n) that counts as little.
const LITTLE_PARTS: u64 = 16;

/// Factory of watches.
#[derive(Debug, Clone)]
pub(super) struct Watchers {
    pub(super) roster: Arc<Roster>,
    pub(super) connections: Arc<Connections>,
}

/// Watch of a query, stopped on drop.
#[derive(Debug)]
pub(super) struct Watch {
    watchers: Watchers,
    lost: Receiver<WorkerError>,
    _asking: JoinSet<()>,
}

impl Watchers {
    /// Waits until workers hold little memory for queries, or stop freeing it: parts of a failed
    /// query keep theirs until they are next polled. The wait is limited, because other queries may
    /// hold the memory.
    pub(super) fn freed(&self) -> impl Future<Output = ()> + Send + use<> {
        let workers = self.roster.all();
        let connections = Arc::clone(&self.connections);
        let asked = async move {
            let freed = join_all(workers.iter().map(|worker| until_freed(&connections, worker)));
            // The next query will detect a worker that is gone.
            _ = tokio::time::timeout(FREED_WITHIN, freed).await;
        };
        let asking = self.connections.threads().spawn(asked);
        async { _ = asking.await }
    }

    pub(super) fn begin(&self) -> Watch {
        let (told, lost) = channel(1);
        let mut asking = JoinSet::new();
        for worker in self.roster.all().iter() {
            let (connections, url, told) = (Arc::clone(&self.connections), worker.url.clone(), told.clone());
            let asked = async move {
                let lost = until_lost(&connections, &url).await;
                // Only the first loss counts.
                _ = told.try_send(lost);
            };
            asking.spawn_on(asked, self.connections.threads());
        }
        Watch { watchers: self.clone(), lost, _asking: asking }
    }
}

/// The library keeps plans that ended, with the rows in their repartitionings, until it receives
/// the next. Such memory stays constant.
async fn until_freed(connections: &Connections, worker: &Worker) -> Result<(), WorkerError> {
    let little_bytes = worker.memory_bytes.unwrap_or(u64::MAX) / LITTLE_PARTS;
    let channel = connections.separate(&worker.url)?;
    let (mut held_bytes, mut equal_answers) = (u64::MAX, 0);
    while held_bytes > little_bytes && equal_answers < EQUAL_ANSWERS {
        let answer = connections.ask(channel.clone(), &worker.url, HELD).await?;
        let now_bytes = String::from_utf8_lossy(&answer).parse().map_err(|error| {
            let why = format!("its answer is none of a worker: {error}");
            WorkerError::Refused { url: shown(&worker.url), why }
        })?;
        equal_answers = if now_bytes == held_bytes { equal_answers + 1 } else { 0 };
        held_bytes = now_bytes;
        tokio::time::sleep(FREED_ASKED_AFTER).await;
    }
    Ok(())
}

async fn until_lost(connections: &Connections, url: &Url) -> WorkerError {
    let channel = match connections.separate(url) {
        Ok(channel) => channel,
        Err(error) => return error,
    };
    loop {
        if let Err(error) = connections.ask(channel.clone(), url, ALIVE).await {
            return lost(error);
        }
        tokio::time::sleep(ASKED_AGAIN_AFTER).await;
    }
}

/// Treats a worker that became unreachable as lost.
fn lost(error: WorkerError) -> WorkerError {
    match error {
        WorkerError::Unreachable { url, why } => WorkerError::Lost { url, why },
        other => other,
    }
}

impl Watch {
    /// Waits until a worker is lost.
    pub(super) async fn lost(&mut self) -> WorkerError {
        match self.lost.recv().await {
            Some(error) => error,
            // The watch has ended.
            None => std::future::pending().await,
        }
    }

    /// Attributes an error of a query to a lost worker or a failing one.
    pub(super) async fn judged(&self, error: DataFusionError) -> DataFusionError {
        let Watchers { roster, connections } = &self.watchers;
        let (asking, urls) = (Arc::clone(connections), roster.all());
        let asked = async move {
            let asked = urls.iter().map(|worker| async {
                let channel = asking.separate(&worker.url)?;
                asking.ask(channel, &worker.url, ALIVE).await
            });
            join_all(asked).await.into_iter().find_map(Result::err)
        };
        // The engine's timers stop while all its threads compute, so use other threads.
        let found = connections.threads().spawn(asked).await.ok().flatten();
        match found {
            Some(error) => lost(error).into(),
            None => failed(error),
        }
    }
}

fn failed(error: DataFusionError) -> DataFusionError {
    let named = worker_named(&error).map(|(worker, inner)| (worker.to_owned(), text(inner)));
    match named {
        Some((url, why)) => WorkerError::Failed { url, why, source: Box::new(error) }.into(),
        None => error,
    }
}

/// Text of an error without its context.
fn text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Shared(inner) => text(inner),
        other => other.to_string(),
    }
}
