//! Optimizer rule that pushes filters to scans, instead of the engine's.
//!
//! The engine's rule (`DataFusion` 55.2) looks columns up by name. Above a join with equally named
//! columns, a filter on a column that the join's output omits would move to the other side: `SELECT
//! y.s FROM x RIGHT JOIN y ON … WHERE x.s IS NULL` would filter `y.s`. Filters that may pass a join
//! have already done so in the logical plan. So this rule pushes filters only to a scan directly
//! below them, and only if no column name occurs twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

/// Optimizer rule that pushes filters.
#[derive(Debug)]
pub(crate) struct PushFilters {
    pushdown: FilterPushdown,
}

impl Default for PushFilters {
    fn default() -> Self {
        Self { pushdown: FilterPushdown::new() }
    }
}

impl PushFilters {
    fn pushed(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let children = plan.children();
        if children.is_empty() {
            return Ok(plan);
        }
        if is_way_to_scan(&plan) {
            return self.pushdown.optimize(plan, config);
        }
        let children = children.into_iter().map(|child| self.pushed(Arc::clone(child), config));
        let children = children.collect::<Result<Vec<_>, _>>()?;
        plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }
}

impl PhysicalOptimizerRule for PushFilters {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        self.pushed(plan, config)
    }

    fn name(&self) -> &str {
        self.pushdown.name()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns true if the path leads to a scan without ambiguous column names.
fn is_way_to_scan(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let has_names = || {
        let schema = plan.schema();
        let names: BTreeSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
        names.len() == schema.fields().len()
    };
    let hands_on = || {
        plan.is::<FilterExec>()
            || plan.is::<ProjectionExec>()
            || plan.is::<RepartitionExec>()
            || plan.is::<CoalescePartitionsExec>()
            || plan.is::<CooperativeExec>()
    };
    let children = plan.children();
    has_names() && (children.is_empty() || hands_on() && children.into_iter().all(is_way_to_scan))
}
