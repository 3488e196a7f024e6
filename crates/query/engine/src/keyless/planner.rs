//! Query planner that removes these nodes.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner as _};

use super::node::Keyless;

/// Wraps another planner; by then all rules have been applied.
#[derive(Debug)]
pub(super) struct WithoutNodes {
    /// `None` for the engine's own.
    pub(super) planner: Option<Arc<dyn QueryPlanner + Send + Sync>>,
}

#[async_trait]
impl QueryPlanner for WithoutNodes {
    async fn create_physical_plan(
        &self,
        statement: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let statement = statement.clone().transform_up_with_subqueries(|node| {
            Ok(match Keyless::input_of(&node) {
                Some(input) => Transformed::yes(input.clone()),
                None => Transformed::no(node),
            })
        });
        let statement = statement.data()?;
        match &self.planner {
            Some(planner) => planner.create_physical_plan(&statement, session).await,
            None => DefaultPhysicalPlanner::default().create_physical_plan(&statement, session).await,
        }
    }
}
