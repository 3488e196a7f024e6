//! The planner of operators, which has none for steps that hand on rows.

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

/// Another planner, of statements without such steps: all rules have been followed by then.
#[derive(Debug)]
pub(super) struct WithoutNodes {
    /// The engine's own where there is none.
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
