//! Removes unique keys from subqueries, common table expressions and views.
//!
//! The engine records that the columns of a grouping, or of `SELECT DISTINCT`, are unique. After
//! joins it applies these keys to larger groups as well (`DataFusion` 55.2). It then drops keys of
//! sorts and groups, and whole `DISTINCT`s and joins, so that rows are missing, duplicated or
//! misordered. So relations in `FROM` have no keys until all rules have been applied.

mod node;
mod planner;
mod relations;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::session_state::SessionState;

/// Builds a session with planners that remove the keys of relations in `FROM`.
///
/// # Errors
/// The engine rejects the planner.
pub(crate) fn without_keys(mut builder: SessionStateBuilder) -> Result<SessionState, DataFusionError> {
    let planner = std::mem::take(builder.query_planner());
    let planner = Arc::new(planner::WithoutNodes { planner });
    let mut state = builder.with_query_planner(planner).build();
    state.register_relation_planner(Arc::new(relations::KeylessRelations))?;
    Ok(state)
}
