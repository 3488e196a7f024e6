//! Join conditions that fail once their query is over. While a join finds no matching rows, it
//! doesn't yield its thread. Without this, a query whose client has gone would block the thread
//! until the join is done.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{DataFusionError, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec,
};

use crate::EngineError;
use crate::grace::GraceHashJoin;

/// Wraps the join conditions of a plan, so that [`end_joins`] can end them.
pub(crate) fn with_ends(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    plan.transform_up(|node| {
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>()
            && let Some(filter) = join.filter()
        {
            let builder = NestedLoopJoinExecBuilder::from(join).with_filter(Some(until_over(filter)));
            return Ok(Transformed::yes(Arc::new(builder.build()?) as _));
        }
        if let Some(join) = node.downcast_ref::<HashJoinExec>()
            && let Some(filter) = join.filter()
        {
            return Ok(Transformed::yes(join.builder().with_filter(Some(until_over(filter))).build_exec()?));
        }
        if let Some(join) = node.downcast_ref::<SortMergeJoinExec>()
            && let Some(filter) = join.filter()
        {
            return Ok(Transformed::yes(Arc::new(sorting(join, until_over(filter))?) as _));
        }
        if let Some(join) = node.downcast_ref::<GraceHashJoin>()
            && let Some(filter) = join.filter()
        {
            return Ok(Transformed::yes(Arc::new(join.with_filter(until_over(filter))?) as _));
        }
        Ok(Transformed::no(node))
    })
    .data()
}

fn sorting(join: &SortMergeJoinExec, filter: JoinFilter) -> Result<SortMergeJoinExec, DataFusionError> {
    SortMergeJoinExec::try_new(
        Arc::clone(join.left()),
        Arc::clone(join.right()),
        join.on().to_vec(),
        Some(filter),
        join.join_type(),
        join.sort_options().to_vec(),
        join.null_equality(),
    )
}

/// Makes the joins of a plan fail from now on.
pub(crate) fn end_joins(node: &Arc<dyn ExecutionPlan>) {
    let nested_loops = node.downcast_ref::<NestedLoopJoinExec>().and_then(NestedLoopJoinExec::filter);
    let filter = nested_loops
        .or_else(|| node.downcast_ref::<HashJoinExec>()?.filter())
        .or_else(|| node.downcast_ref::<GraceHashJoin>()?.filter())
        .or_else(|| node.downcast_ref::<SortMergeJoinExec>()?.filter().as_ref());
    if let Some(condition) = filter.and_then(|filter| filter.expression().downcast_ref::<UntilOver>()) {
        condition.is_over.store(true, Ordering::Relaxed);
    }
}

fn until_over(filter: &JoinFilter) -> JoinFilter {
    let condition = Arc::clone(filter.expression());
    let until_over = UntilOver { condition, is_over: Arc::default() };
    JoinFilter::new(Arc::new(until_over), filter.column_indices().to_vec(), Arc::clone(filter.schema()))
}

/// A join condition that can be cancelled.
#[derive(Debug)]
struct UntilOver {
    condition: Arc<dyn PhysicalExpr>,
    is_over: Arc<AtomicBool>,
}

impl PartialEq for UntilOver {
    fn eq(&self, other: &Self) -> bool {
        self.condition.eq(&other.condition)
    }
}

impl Eq for UntilOver {}

impl Hash for UntilOver {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.condition.hash(state);
    }
}

impl fmt::Display for UntilOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl PhysicalExpr for UntilOver {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue, DataFusionError> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(EngineError::Interrupted.into());
        }
        self.condition.evaluate(batch)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef, DataFusionError> {
        self.condition.return_field(schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.condition]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>, DataFusionError> {
        let Ok([condition]) = <[_; 1]>::try_from(children) else {
            return internal_err!("a join has one condition");
        };
        Ok(Arc::new(Self { condition, is_over: Arc::clone(&self.is_over) }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt_sql(f)
    }
}
