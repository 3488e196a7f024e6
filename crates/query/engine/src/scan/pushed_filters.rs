//! The optimizer rule by which filters come to scans, in the place of the engine's.
//!
//! That one looks columns up by their names (`DataFusion` 55.2). Above a join whose sides have columns of the same name, a filter of one that the join's
//! output leaves out moves to the other side's, and away from above the join: `SELECT y.s FROM x RIGHT JOIN y ON … WHERE x.s IS NULL` would filter
//! `y.s`. What can move below a join has moved there before, as a part of the statement; so here filters move to the scan below them where nothing
//! else lies between, and no name is there twice.

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

/// Has filters come to scans.
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

/// Whether there is a scan at the end of it, and a filter that gets there gets to its own column.
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
