use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use nandle_reads::Pricing;
use url::Url;

use crate::WorkerError;
use crate::connection::{Connections, shown};
use crate::wire::{DESCRIBE, Description};

/// A worker alone would have nothing to be distributed among: it gets two tasks.
const TASKS_MIN: usize = 2;

/// A worker, and what is known of its machine.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    pub(super) url: Url,
    pub(super) threads: NonZeroUsize,
    /// Memory of its queries; none where nothing bounds it.
    pub(super) memory_bytes: Option<u64>,
    /// What reading costs there.
    pub(super) pricing: Pricing,
}

impl Worker {
    /// Whether the same takes it as long.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.threads == other.threads && self.pricing.costs() == other.pricing.costs()
    }
}

/// The workers that are there. Tasks of a stage go to them in this order, so that a share of a scan comes to the one that it was made for.
#[derive(Debug)]
pub(super) struct Roster(RwLock<Arc<[Worker]>>);

impl Roster {
    pub(super) fn new(workers: Vec<Worker>) -> Self {
        Self(RwLock::new(workers.into()))
    }

    /// What each of some workers says of itself, all asked at once.
    pub(super) async fn ask(connections: &Connections, urls: &[Url]) -> Vec<Result<Worker, WorkerError>> {
        join_all(urls.iter().map(|url| describe(connections, url))).await
    }

    pub(super) fn all(&self) -> Arc<[Worker]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves one out from now on.
    pub(super) fn remove(&self, url: &str) {
        let mut workers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *workers = workers.iter().filter(|worker| shown(&worker.url) != url).cloned().collect();
    }

    /// Memory of the worker that has the least; none where nothing bounds any of them.
    pub(super) fn memory_bytes_min(&self) -> Option<u64> {
        self.all().iter().filter_map(|worker| worker.memory_bytes).min()
    }

    /// Tasks of a stage that is distributed.
    pub(super) fn tasks(&self) -> usize {
        self.all().len().max(TASKS_MIN)
    }

    /// The workers of so many tasks.
    pub(super) fn of_tasks(&self, tasks: usize) -> Result<Vec<Worker>, WorkerError> {
        let workers = self.all();
        if workers.is_empty() {
            return Err(WorkerError::NoneLeft);
        }
        Ok(workers.iter().cycle().take(tasks).cloned().collect())
    }
}

async fn describe(connections: &Connections, url: &Url) -> Result<Worker, WorkerError> {
    let described = connections.ask(connections.separate(url)?, url, DESCRIBE).await?;
    let refused = |why: String| WorkerError::Refused { url: shown(url), why };
    let Description { threads, memory_bytes, costs } = serde_json::from_slice(&described)
        .map_err(|error| refused(format!("its answer is none of a worker: {error}")))?;
    let pricing = Pricing::new(costs)
        .map_err(|error| refused(format!("reads can't be planned by what it says of its device: {error}")))?;
    Ok(Worker { url: url.clone(), threads, memory_bytes, pricing })
}
