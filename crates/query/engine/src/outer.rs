//! Nullable sides of outer joins.
//!
//! If a filter or projection makes a column of such a side constant, the engine (`DataFusion` 55.2)
//! assumes that it is constant in the join's output, too, where it may be null. It then doesn't
//! sort or partition by that column, and groups are duplicated. So this node hides all properties
//! of such a side except its order.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{DataFusionError, JoinType, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::statistics::ChildStats;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _,
    PlanProperties, ReplaceChildrenOptions, StatisticsArgs,
};

use crate::grace::GraceHashJoin;

/// Optimizer rule that wraps nullable sides with constant columns.
#[derive(Debug)]
pub(crate) struct MarkOuterSides;

impl PhysicalOptimizerRule for MarkOuterSides {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        plan.transform_up(marked).data()
    }

    fn name(&self) -> &'static str {
        "mark_outer_sides"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn marked(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>, DataFusionError> {
    let may_be_missing = outer_sides(&plan);
    let is_marked = |side: &Arc<dyn ExecutionPlan>, may_be_missing: bool| {
        may_be_missing && !side.equivalence_properties().constants().is_empty()
    };
    let sides = || plan.children().into_iter().zip(may_be_missing);
    if !sides().any(|(side, may_be_missing)| is_marked(side, may_be_missing)) {
        return Ok(Transformed::no(plan));
    }
    let sides = sides().map(|(side, may_be_missing)| {
        let marked = || Arc::new(OuterSide::new(Arc::clone(side))) as _;
        if is_marked(side, may_be_missing) { marked() } else { Arc::clone(side) }
    });
    let (sides, options) = (sides.collect(), ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute));
    Ok(Transformed::yes(Arc::clone(&plan).replace_children(sides, options)?))
}

/// Returns for the left and the right side whether the join may pad it with nulls.
fn outer_sides(plan: &Arc<dyn ExecutionPlan>) -> [bool; 2] {
    let hash = plan.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
    let grace = || plan.downcast_ref::<GraceHashJoin>().map(|join| *join.join().join_type());
    let sorted = || plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type);
    let nested = || plan.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type());
    match hash.or_else(grace).or_else(sorted).or_else(nested) {
        Some(JoinType::Left) => [false, true],
        Some(JoinType::Right) => [true, false],
        Some(JoinType::Full) => [true, true],
        _ => [false, false],
    }
}

/// Rows of a nullable side.
#[derive(Debug)]
pub struct OuterSide {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl OuterSide {
    /// Wraps a side; only the order of its columns remains known.
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let orders = input.equivalence_properties().oeq_class().iter().cloned().collect::<Vec<_>>();
        let order_alone = EquivalenceProperties::new_with_orderings(input.schema(), orders);
        let properties = PlanProperties::clone(input.properties()).with_eq_properties(order_alone);
        Self { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for OuterSide {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OuterSide")
    }
}

impl ExecutionPlan for OuterSide {
    fn name(&self) -> &'static str {
        "OuterSide"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let [input] = &*children else { return internal_err!("a side of a join has one input") };
        Ok(Arc::new(Self::new(Arc::clone(input))))
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
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>, DataFusionError> {
        let [input] = inputs else { return internal_err!("a side of a join has one input") };
        Ok(Arc::clone(input))
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _phase: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _config: &ConfigOptions,
    ) -> Result<FilterDescription, DataFusionError> {
        FilterDescription::from_children(filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>, DataFusionError> {
        Ok(FilterPushdownPropagation::if_all(result))
    }
}
