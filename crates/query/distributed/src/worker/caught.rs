//! A panic of an operator is an error. The library has a stage's rows computed in tasks of which nobody asks how they ended: without this a panic would
//! look like the end of the rows.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
};
use datafusion_distributed::{BroadcastExec, NetworkBoundaryExt as _};
use futures_util::{FutureExt as _, StreamExt as _};
use nandle_engine::EngineError;

/// The same plan, whose panics are errors. The library takes the head of a stage off and puts another one on, so what is below it is caught.
pub(super) fn caught(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let is_head = plan.is::<RepartitionExec>() || plan.is::<BroadcastExec>();
    // How a union is shared out among tasks, the library reads from the plan.
    if is_head || plan.name() == "ChildrenIsolatorUnionExec" {
        let children = plan.children().into_iter().map(|child| caught(Arc::clone(child)));
        let children = children.collect::<Result<Vec<_>, _>>()?;
        return plan.with_new_children(children);
    }
    if plan.is_network_boundary() {
        return Ok(plan);
    }
    Ok(Arc::new(Caught(plan)))
}

/// A node in whose place this stands: the plan keeps its shape, and the node its metrics.
#[derive(Debug)]
struct Caught(Arc<dyn ExecutionPlan>);

impl DisplayAs for Caught {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(format, f)
    }
}

impl ExecutionPlan for Caught {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.0.children()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        Ok(Arc::new(Self(Arc::clone(&self.0).with_new_children(children)?)))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        self.0.apply_expressions(visit)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let rows = self.0.execute(partition, context)?;
        let schema = rows.schema();
        let rows = AssertUnwindSafe(rows).catch_unwind();
        let rows = rows.map(|batch| batch.unwrap_or_else(|panic| Err(panicked(panic.as_ref()).into())));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.0.metrics()
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>, DataFusionError> {
        self.0.statistics_from_inputs(inputs, args)
    }
}

fn panicked(panic: &(dyn Any + Send)) -> EngineError {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    EngineError::Panicked { what: text.unwrap_or_else(|| "without a message".to_owned()) }
}
