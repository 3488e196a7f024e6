//! Converts panics of operators to errors. The library computes a stage's rows in tasks and ignores
//! how they end: without this, a panic would look like the end of the rows. Also gives each
//! temporary file of a repartitioning a single writer; see `nandle_engine::with_single_writers`.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _,
    PlanProperties, ReplaceChildrenOptions, StatisticsArgs,
};
use datafusion_distributed::{BroadcastExec, NetworkBoundaryExt as _};
use futures_util::StreamExt as _;
use nandle_engine::{EngineError, with_single_writers};

/// Wraps a plan so that panics become errors. The library replaces the head of a stage, so the
/// nodes below it are wrapped.
pub(super) fn caught(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let is_head = plan.is::<RepartitionExec>() || plan.is::<BroadcastExec>();
    // The library reads the assignment of a union to tasks from the plan.
    if is_head || plan.name() == "ChildrenIsolatorUnionExec" {
        let children = plan.children().into_iter().map(|child| caught(Arc::clone(child)));
        let children = children.collect::<Result<Vec<_>, _>>()?;
        let children = if plan.is::<RepartitionExec>() { one_writer(children) } else { children };
        return with_children(&plan, children);
    }
    if plan.is_network_boundary() {
        return Ok(plan);
    }
    Ok(Arc::new(Caught { node: with_single_writers(plan)?, together: None }))
}

/// Merges the partitions of each input: the library's own head has all of them write to it.
fn one_writer(inputs: Vec<Arc<dyn ExecutionPlan>>) -> Vec<Arc<dyn ExecutionPlan>> {
    let one = |input: Arc<dyn ExecutionPlan>| match input.output_partitioning().partition_count() {
        0 | 1 => input,
        _ => Arc::new(Caught::together(input)) as _,
    };
    inputs.into_iter().map(one).collect()
}

fn with_children(
    node: &Arc<dyn ExecutionPlan>,
    children: Vec<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Arc::clone(node).replace_children(children, options)
}

/// Wrapper in place of a node. The plan keeps its shape, which the library uses to match metrics,
/// and the node keeps its metrics.
#[derive(Debug)]
struct Caught {
    node: Arc<dyn ExecutionPlan>,
    /// Merged partitions, if they are merged.
    together: Option<CoalescePartitionsExec>,
}

impl Caught {
    fn together(node: Arc<dyn ExecutionPlan>) -> Self {
        let together = Some(CoalescePartitionsExec::new(Arc::clone(&node)));
        Self { node, together }
    }

    fn rows(&self) -> &dyn ExecutionPlan {
        self.together.as_ref().map_or(&*self.node, |together| together)
    }
}

impl DisplayAs for Caught {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt_as(format, f)
    }
}

impl ExecutionPlan for Caught {
    fn name(&self) -> &str {
        self.node.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.rows().properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.node.children()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let node = with_children(&self.node, children)?;
        Ok(Arc::new(if self.together.is_some() {
            Self::together(node)
        } else {
            Self { node, together: None }
        }))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        self.node.apply_expressions(visit)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let rows = self.rows().execute(partition, context)?;
        let schema = rows.schema();
        let rows = AssertUnwindSafe(rows).catch_unwind();
        let rows =
            rows.map(|batch| batch.unwrap_or_else(|panic| Err(EngineError::panicked(panic.as_ref()).into())));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.node.metrics()
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>, DataFusionError> {
        self.node.statistics_from_inputs(inputs, args)
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{Schema, SchemaRef};
    use datafusion::execution::TaskContext;
    use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
    use futures_util::stream::poll_fn;

    use super::*;

    #[derive(Debug)]
    struct Panicking(SchemaRef);

    impl PartitionStream for Panicking {
        fn schema(&self) -> &SchemaRef {
            &self.0
        }

        fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
            let rows = poll_fn(|_| panic!("an operator's own words"));
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.0), rows))
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_plan_looks_the_same() {
        let schema = Arc::new(Schema::empty());
        let rows: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(Panicking(Arc::clone(&schema)))];
        let plan = StreamingTableExec::try_new(schema, rows, None, [], false, None).unwrap();
        let plan = caught(Arc::new(plan)).unwrap();
        assert_eq!((plan.name(), plan.children().len()), ("StreamingTableExec", 0));
        let mut rows = plan.execute(0, Arc::new(TaskContext::default())).unwrap();
        let error = rows.next().await.unwrap().unwrap_err().to_string();
        assert!(error.contains("an operator's own words"), "{error}");
    }
}
