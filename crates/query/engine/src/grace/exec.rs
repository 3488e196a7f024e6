//! Physical operator of the Grace hash join.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::ChildStats;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    StatisticsArgs,
};
use futures_util::stream::{self, StreamExt as _};

use super::pairs::Pairs;

/// A hash join that spills rows to temporary files if its left side exceeds its share of the
/// memory. Its output is unordered.
#[derive(Debug)]
pub struct GraceHashJoin {
    /// The join that it replaces.
    join: Arc<HashJoinExec>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl GraceHashJoin {
    /// Creates the join. Both sides must be partitioned by its keys.
    ///
    /// # Errors
    /// The join can't be rebuilt.
    pub fn new(join: &HashJoinExec) -> Result<Self, DataFusionError> {
        let join = join.builder().reset_state().build()?;
        let mut of_join = PlanProperties::clone(join.properties());
        of_join.eq_properties.clear_orderings();
        let properties = Arc::new(of_join.with_emission_type(EmissionType::Final));
        Ok(Self { join: Arc::new(join), properties, metrics: ExecutionPlanMetricsSet::new() })
    }

    /// The join that it replaces.
    pub fn join(&self) -> &HashJoinExec {
        &self.join
    }

    /// Condition in addition to equal keys.
    pub(crate) fn filter(&self) -> Option<&JoinFilter> {
        self.join.filter()
    }

    /// Replaces the condition.
    pub(crate) fn with_filter(&self, filter: JoinFilter) -> Result<Self, DataFusionError> {
        Self::new(&self.join.builder().with_filter(Some(filter)).build()?)
    }
}

impl DisplayAs for GraceHashJoin {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grace")?;
        self.join.fmt_as(format, f)
    }
}

impl ExecutionPlan for GraceHashJoin {
    fn name(&self) -> &'static str {
        "GraceHashJoin"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.join.input_distribution_requirements()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.join.children()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        if children.len() != 2 {
            return internal_err!("a join has two inputs");
        }
        let join = self.join.builder().recompute_properties().with_new_children(children)?.build()?;
        Ok(Arc::new(Self::new(&join)?))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        self.join.apply_expressions(visit)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let left = self.join.left().execute(partition, Arc::clone(&context))?;
        let right = self.join.right().execute(partition, Arc::clone(&context))?;
        let mut rows = RecordBatchReceiverStream::builder(self.schema(), 1);
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let pairs =
            Pairs::new(Arc::clone(&self.join), partition, context, &self.metrics, baseline, rows.tx())?;
        // Starts when first polled, so that dependent joins don't hold memory at the same time.
        let rows = stream::once(async move {
            rows.spawn(async move { pairs.join(left, right).await });
            rows.build()
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows.flatten())))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>, DataFusionError> {
        self.join.statistics_from_inputs(inputs, args)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.join.child_stats_requests(partition)
    }
}
