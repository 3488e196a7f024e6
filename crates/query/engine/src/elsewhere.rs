use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use futures_util::future::BoxFuture;

/// What is to be said of a plan, if something is.
pub type ToldElsewhere = dyn Fn(&Arc<dyn ExecutionPlan>) -> Option<String> + Send + Sync;

/// Waits until other machines hold little memory for queries, but not for ever.
pub type FreedElsewhere = dyn Fn() -> BoxFuture<'static, ()> + Send + Sync;

/// An extension of a session whose plans may be carried out by other machines: what EXPLAIN says of that, and when there is memory for one more query.
#[derive(Clone)]
pub struct Elsewhere {
    /// What a plan has other machines do; none where all of it is done here.
    pub there: Arc<ToldElsewhere>,
    /// Why all of a plan is done here.
    pub here: Arc<ToldElsewhere>,
    /// Parts of a query that has failed hold memory there until they look up.
    pub freed: Arc<FreedElsewhere>,
}

impl std::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Elsewhere")
    }
}
