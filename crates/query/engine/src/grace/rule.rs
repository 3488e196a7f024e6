//! Optimizer rule that lets joins of two partitioned sides spill.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{DataFusionError, internal_err};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};

use super::GraceHashJoin;

/// Optimizer rule of the engine.
pub(crate) type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// Rule that chooses join algorithms. Later rules establish the partitioning and order that joins
/// require.
pub(crate) const JOINS_DECIDED: &str = "join_selection";

/// Adds the rule: hash joins of two partitioned sides may spill. Broadcast joins stay unchanged.
///
/// # Errors
/// The engine has no rule that chooses join algorithms.
pub(crate) fn with_grace_joins(rules: &[Rule]) -> Result<Vec<Rule>, DataFusionError> {
    let Some(decided) = rules.iter().position(|rule| rule.name() == JOINS_DECIDED) else {
        return internal_err!("there is no rule {JOINS_DECIDED}");
    };
    let mut rules = rules.to_vec();
    rules.insert(decided + 1, Arc::new(UseGraceJoins));
    Ok(rules)
}

#[derive(Debug)]
struct UseGraceJoins;

impl PhysicalOptimizerRule for UseGraceJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        plan.transform_up(|node| {
            let join = node.downcast_ref::<HashJoinExec>();
            let Some(join) = join.filter(|join| *join.partition_mode() == PartitionMode::Partitioned) else {
                return Ok(Transformed::no(node));
            };
            Ok(Transformed::yes(Arc::new(GraceHashJoin::new(join)?) as _))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "use_grace_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
