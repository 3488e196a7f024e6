//! Optimizer rule that makes joins yield.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};

use crate::grace::GraceHashJoin;

/// Makes joins yield after a number of output batches. A join may produce many rows from few,
/// without polling its inputs, which would yield. Without this rule a query whose client has gone
/// would compute until its join is done. A join that finds no rows still doesn't yield.
#[derive(Debug)]
pub(crate) struct YieldInJoins;

impl PhysicalOptimizerRule for YieldInJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        plan.transform_up(|node| {
            Ok(if is_join(&node) {
                Transformed::yes(Arc::new(CooperativeExec::new(node)) as _)
            } else {
                Transformed::no(node)
            })
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "yield_in_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn is_join(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<HashJoinExec>()
        || plan.is::<GraceHashJoin>()
        || plan.is::<NestedLoopJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<SortMergeJoinExec>()
}
