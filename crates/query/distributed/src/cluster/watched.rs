use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures_util::stream::{StreamExt as _, unfold};

use super::watch::{Watch, Watchers};

/// A distributed plan that fails when a worker is lost.
#[derive(Debug)]
pub(super) struct WatchedExec {
    plan: Arc<dyn ExecutionPlan>,
    watchers: Watchers,
}

impl WatchedExec {
    pub(super) const fn new(plan: Arc<dyn ExecutionPlan>, watchers: Watchers) -> Self {
        Self { plan, watchers }
    }
}

impl DisplayAs for WatchedExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchedExec")
    }
}

impl ExecutionPlan for WatchedExec {
    fn name(&self) -> &'static str {
        "WatchedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.plan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.plan]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        match <[_; 1]>::try_from(children) {
            Ok([plan]) => Ok(Arc::new(Self::new(plan, self.watchers.clone()))),
            Err(children) => internal_err!("a watched plan has one child, not {}", children.len()),
        }
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let rows = self.plan.execute(partition, context)?;
        let (schema, watch) = (rows.schema(), self.watchers.begin());
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, watched(rows, watch))))
    }
}

/// Ends the rows after the first error.
fn watched(
    rows: SendableRecordBatchStream,
    watch: Watch,
) -> impl futures_util::Stream<Item = Result<arrow_array::RecordBatch, DataFusionError>> {
    unfold(Some((rows, watch)), |running| async move {
        let (mut rows, mut watch) = running?;
        let next = tokio::select! {
            biased;
            lost = watch.lost() => return Some((Err(lost.into()), None)),
            next = rows.next() => next,
        };
        match next? {
            Ok(batch) => Some((Ok(batch), Some((rows, watch)))),
            Err(error) => {
                drop(rows);
                Some((Err(watch.judged(error).await), None))
            }
        }
    })
}
