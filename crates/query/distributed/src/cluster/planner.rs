use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::TreeNode as _;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner as _};
use datafusion_distributed::DistributedExec;
use nandle_engine::{NandleOptions, Reads};

use super::watch::Watchers;
use super::watched::WatchedExec;

/// Plans queries locally, distributes those with long scans, and watches their workers.
#[derive(Debug)]
pub(super) struct WatchedPlanner {
    pub(super) distributing: Arc<dyn QueryPlanner + Send + Sync>,
    pub(super) watchers: Watchers,
}

#[async_trait]
impl QueryPlanner for WatchedPlanner {
    async fn create_physical_plan(
        &self,
        statement: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let options = session.config_options().extensions.get::<NandleOptions>();
        // Unplanned scans have no predicted time and recursive queries can't be divided: both run
        // here.
        let is_recursive = || statement.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))));
        if options.is_some_and(|options| options.reads == Reads::Engine) || is_recursive()? {
            return DefaultPhysicalPlanner::default().create_physical_plan(statement, session).await;
        }
        let plan = self.distributing.create_physical_plan(statement, session).await?;
        if plan.exists(|node| Ok(node.is::<DistributedExec>()))? {
            return Ok(Arc::new(WatchedExec::new(plan, self.watchers.clone())));
        }
        Ok(plan)
    }
}
