use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use nandle_reads::Pricing;
use url::Url;

use crate::WorkerError;
use crate::connection::{Connections, shown};
use crate::wire::{DESCRIBE, Description};

/// Minimum number of tasks: a single worker gets two, because one task wouldn't be distributed.
const TASKS_MIN: usize = 2;

/// A worker and its machine.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    pub(super) url: Url,
    pub(super) threads: NonZeroUsize,
    /// Memory of its queries; `None` if unlimited.
    pub(super) memory_bytes: Option<u64>,
    /// Costs of its reads.
    pub(super) pricing: Pricing,
}

impl Worker {
    /// Returns true if the same work takes as long on the other worker.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.threads == other.threads && self.pricing.costs() == other.pricing.costs()
    }
}

/// Available workers. Tasks of a stage are assigned in this order, so each share of a scan reaches
/// its worker.
#[derive(Debug)]
pub(super) struct Roster(RwLock<Arc<[Worker]>>);

impl Roster {
    pub(super) fn new(workers: Vec<Worker>) -> Self {
        Self(RwLock::new(workers.into()))
    }

    /// Queries the descriptions of several workers concurrently.
    pub(super) async fn ask(connections: &Connections, urls: &[Url]) -> Vec<Result<Worker, WorkerError>> {
        join_all(urls.iter().map(|url| describe(connections, url))).await
    }

    pub(super) fn all(&self) -> Arc<[Worker]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes a worker.
    pub(super) fn remove(&self, url: &str) {
        let mut workers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *workers = workers.iter().filter(|worker| shown(&worker.url) != url).cloned().collect();
    }

    /// Least memory of any worker; `None` if all are unlimited.
    pub(super) fn memory_bytes_min(&self) -> Option<u64> {
        self.all().iter().filter_map(|worker| worker.memory_bytes).min()
    }

    /// Number of tasks of a distributed stage.
    pub(super) fn tasks(&self) -> usize {
        self.all().len().max(TASKS_MIN)
    }

    /// Returns a worker for each of `tasks` tasks.
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
