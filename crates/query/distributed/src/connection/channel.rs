//! Attaches the worker to errors, at any stage of a query.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::{
    CoordinatorToWorkerMsg, ExecuteTaskRequest, GetWorkerInfoRequest, GetWorkerInfoResponse, SetPlanRequest,
    WorkerChannel, WorkerToCoordinatorMsg,
};
use futures_util::stream::{BoxStream, StreamExt as _};
use http::HeaderMap;
use url::Url;

use super::shown;

/// Prefix of an error context that names a worker.
const NAMING: &str = "worker ";

/// Wraps a worker's channel so that errors name the worker.
pub(super) fn named(url: &Url, inner: Box<dyn WorkerChannel>) -> Box<dyn WorkerChannel> {
    Box::new(Named { worker: shown(url), inner })
}

/// Returns the worker that an error names, and its own error.
pub(crate) fn worker_named(error: &DataFusionError) -> Option<(&str, &DataFusionError)> {
    match error {
        DataFusionError::Context(context, inner) => {
            let further = || worker_named(inner);
            let worker = context.strip_prefix(NAMING).map(|worker| (worker, &**inner));
            // If one worker failed because of another, the latter is the cause.
            further().or(worker)
        }
        DataFusionError::Shared(inner) => worker_named(inner),
        DataFusionError::Collection(errors) => errors.iter().find_map(worker_named),
        DataFusionError::ArrowError(inner, _) => match &**inner {
            datafusion::arrow::error::ArrowError::ExternalError(inner) => {
                worker_named(inner.downcast_ref::<DataFusionError>()?)
            }
            _ => None,
        },
        DataFusionError::External(inner) => {
            let shared = || inner.downcast_ref::<Arc<DataFusionError>>().map(Arc::as_ref);
            worker_named(inner.downcast_ref::<DataFusionError>().or_else(shared)?)
        }
        _ => None,
    }
}

struct Named {
    worker: String,
    inner: Box<dyn WorkerChannel>,
}

fn naming(worker: &str, error: DataFusionError) -> DataFusionError {
    if worker_named(&error).is_some() { error } else { error.context(format!("{NAMING}{worker}")) }
}

fn all_named<T: 'static>(
    worker: &str,
    stream: BoxStream<'static, Result<T, DataFusionError>>,
) -> BoxStream<'static, Result<T, DataFusionError>> {
    let worker = worker.to_owned();
    stream.map(move |item| item.map_err(|error| naming(&worker, error))).boxed()
}

#[async_trait]
impl WorkerChannel for Named {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        request: SetPlanRequest,
        messages: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg, DataFusionError>>, DataFusionError> {
        let begun = self.inner.coordinator_channel(headers, request, messages, metrics, context).await;
        let answers = begun.map_err(|error| naming(&self.worker, error))?;
        Ok(all_named(&self.worker, answers))
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch, DataFusionError>>>, DataFusionError> {
        let begun = self.inner.execute_task(headers, request, metrics, context).await;
        let partitions = begun.map_err(|error| naming(&self.worker, error))?;
        Ok(partitions.into_iter().map(|rows| all_named(&self.worker, rows)).collect())
    }

    async fn get_worker_info(
        &mut self,
        request: GetWorkerInfoRequest,
    ) -> Result<GetWorkerInfoResponse, DataFusionError> {
        self.inner.get_worker_info(request).await.map_err(|error| naming(&self.worker, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_that_fails_first_is_named() {
        let failed = DataFusionError::ResourcesExhausted("no memory".to_owned());
        let first = naming("http://a", failed);
        let second = naming("http://b", DataFusionError::Shared(Arc::new(first)));
        let (worker, inner) = worker_named(&second).unwrap();
        assert_eq!(worker, "http://a");
        assert!(matches!(inner, DataFusionError::ResourcesExhausted(_)), "{inner:?}");
        assert!(worker_named(&DataFusionError::Execution("own".to_owned())).is_none());
    }
}
