//! Planner of relations in `FROM`: as the engine does, but without keys.

use std::cell::Cell;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::sql::sqlparser::ast::TableFactor;

use super::node::Keyless;

thread_local! {
    /// Set while this planner delegates to the engine, which calls it back for the same relation. A
    /// statement is planned by one thread.
    static IS_THE_ENGINES: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug)]
pub(super) struct KeylessRelations;

impl RelationPlanner for KeylessRelations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning, DataFusionError> {
        // The engine decorrelates lateral relations later.
        let is_lateral = matches!(relation, TableFactor::Derived { lateral: true, .. });
        if is_lateral || IS_THE_ENGINES.replace(false) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        IS_THE_ENGINES.set(true);
        let planned = context.plan(relation);
        IS_THE_ENGINES.set(false);
        let plan = planned?;
        let plan = if may_have_keys(&plan)? { Keyless::plan(plan)? } else { plan };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, None))))
    }
}

/// Returns true if the plan groups rows without a node that drops their keys.
fn may_have_keys(plan: &LogicalPlan) -> Result<bool, DataFusionError> {
    let mut may_have = false;
    plan.apply(|node| {
        may_have |= matches!(node, LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_));
        Ok(if Keyless::input_of(node).is_some() {
            TreeNodeRecursion::Jump
        } else if may_have {
            TreeNodeRecursion::Stop
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    Ok(may_have)
}
