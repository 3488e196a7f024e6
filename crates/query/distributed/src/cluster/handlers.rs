//! Callbacks of the distributing planner: the number of tasks, the share of a scan for each, and
//! its worker.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use datafusion::common::DataFusionError;
use datafusion_distributed::{
    DesiredTaskCountEvent, DesiredTaskCountEventResponse, DesiredTaskCountHandler, DistributedLeafExec,
    RouteTasksEvent, RouteTasksEventResponse, RouteTasksHandler, ScaleUpLeafNodeEvent,
    ScaleUpLeafNodeEventResponse, ScaleUpLeafNodeHandler, WorkerResolver,
};
use nandle_engine::{ScanLeaf, ScanPart};
use url::Url;

use super::roster::{Roster, Worker};

/// Time to open a scan that reads nothing.
const LEAST_SECONDS: f64 = 1e-9;

/// Divides scans by predicted time.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    pub(super) roster: Arc<Roster>,
    /// Scans predicted to take less aren't distributed.
    pub(super) above: Duration,
}

/// A worker's part of a scan.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) worker: Worker,
    pub(super) part: ScanPart,
    /// Predicted time.
    pub(super) seconds: f64,
}

impl Shares {
    fn tasks(&self, leaf: ScanLeaf<'_>) -> DesiredTaskCountEventResponse {
        if !leaf.can_be_parted() {
            return DesiredTaskCountEventResponse::maximum(1);
        }
        let is_long = leaf.seconds() >= self.above.as_secs_f64();
        DesiredTaskCountEventResponse::desired(if is_long { self.roster.tasks() } else { 1 })
    }
}

/// Divides a scan among the workers of `tasks` tasks, so that all take equally long.
pub(super) fn shares(
    leaf: ScanLeaf<'_>,
    roster: &Roster,
    tasks: usize,
) -> Result<Vec<Share>, DataFusionError> {
    let workers = roster.of_tasks(tasks)?;
    let mut seconds: Vec<f64> = Vec::new();
    for worker in &workers {
        // Machines are often alike: reuse their predictions.
        let alike = workers.iter().zip(&seconds).find(|(other, _)| other.is_like(worker));
        let own = match alike {
            Some((_, seconds)) => *seconds,
            None => leaf.seconds_on(&worker.pricing, worker.threads)?,
        };
        seconds.push(own);
    }
    let weights: Vec<f64> = seconds.iter().map(|seconds| 1.0 / seconds.max(LEAST_SECONDS)).collect();
    let shares = workers.into_iter().zip(leaf.parts(&weights)?).zip(seconds);
    let share = |((worker, part), seconds): ((Worker, ScanPart), f64)| {
        let seconds = seconds * part.time_part;
        Share { worker, part, seconds }
    };
    Ok(shares.map(share).collect())
}

impl WorkerResolver for Shares {
    /// Returns a URL per task of a stage; the library uses their number as the maximum of tasks.
    fn get_urls(&self) -> Result<Vec<Url>, DataFusionError> {
        let workers = self.roster.of_tasks(self.roster.tasks())?;
        Ok(workers.into_iter().map(|worker| worker.url).collect())
    }
}

#[async_trait]
impl DesiredTaskCountHandler for Shares {
    async fn handle(
        &self,
        event: DesiredTaskCountEvent<'_>,
    ) -> Option<Result<DesiredTaskCountEventResponse, DataFusionError>> {
        ScanLeaf::of(event.plan).map(|leaf| Ok(self.tasks(leaf)))
    }
}

impl ScaleUpLeafNodeHandler for Shares {
    fn handle(
        &self,
        event: ScaleUpLeafNodeEvent<'_>,
    ) -> Option<Result<ScaleUpLeafNodeEventResponse, DataFusionError>> {
        let leaf = ScanLeaf::of(event.plan)?;
        let scaled = || {
            let shares = shares(leaf, &self.roster, event.task_count)?;
            let plans = shares.into_iter().map(|share| share.part.plan);
            let leaf = DistributedLeafExec::try_new(Arc::clone(event.plan), plans)?;
            Ok(ScaleUpLeafNodeEventResponse::new(Arc::new(leaf)))
        };
        Some(scaled())
    }
}

impl RouteTasksHandler for Shares {
    fn handle(&self, event: RouteTasksEvent<'_>) -> Option<Result<RouteTasksEventResponse, DataFusionError>> {
        let workers = self.roster.of_tasks(event.task_count);
        let urls = workers.map(|workers| workers.into_iter().map(|worker| worker.url).collect());
        Some(urls.map(RouteTasksEventResponse::new).map_err(DataFusionError::from))
    }
}
