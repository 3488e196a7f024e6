//! Subqueries, common table expressions and views whose columns aren't taken for keys.
//!
//! The engine knows of the rows of a grouping, or of `SELECT DISTINCT`, that some columns tell them apart. Where such rows are joined and grouped
//! again it takes these columns for keys of the new groups as well (`DataFusion` 55.2), which have more columns: it leaves out keys of sorts and groups, and whole
//! `DISTINCT`s and joins, so that rows are missing, doubled or in another order. So what `FROM` names has no keys, until all rules have been followed.

mod node;
mod planner;
mod relations;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::session_state::SessionState;

/// The session with planners by which what `FROM` names has no keys.
///
/// # Errors
/// The engine takes no such planner.
pub(crate) fn without_keys(mut builder: SessionStateBuilder) -> Result<SessionState, DataFusionError> {
    let planner = std::mem::take(builder.query_planner());
    let planner = Arc::new(planner::WithoutNodes { planner });
    let mut state = builder.with_query_planner(planner).build();
    state.register_relation_planner(Arc::new(relations::KeylessRelations))?;
    Ok(state)
}
