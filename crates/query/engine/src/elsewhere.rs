use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use futures_util::future::BoxFuture;

/// Remark on a plan, if there is one.
pub type ToldElsewhere = dyn Fn(&Arc<dyn ExecutionPlan>) -> Option<String> + Send + Sync;

/// Waits, with a limit, until other machines hold little memory for queries.
pub type FreedElsewhere = dyn Fn() -> BoxFuture<'static, ()> + Send + Sync;

/// Remote execution of a session's plans: remarks for EXPLAIN, and a wait for free memory.
#[derive(Clone)]
pub struct Elsewhere {
    /// Describes the remote parts of a plan; `None` if it runs locally.
    pub there: Arc<ToldElsewhere>,
    /// Explains why all of a plan runs locally.
    pub here: Arc<ToldElsewhere>,
    /// Waits for memory of failed queries: their remote parts keep it until they are next polled.
    pub freed: Arc<FreedElsewhere>,
}

impl std::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Elsewhere")
    }
}
