//! Memory that is never refused: for joins whose rows were measured to fit, and for small joins,
//! which further partitioning wouldn't shrink.

use std::fmt;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnv;

/// Maximum memory of a small join, with its table and a copy. Each partition may exceed the pool's
/// limit by this much.
pub(super) const SMALL_BYTES_MAX: usize = 128 << 10;

/// Returns a task context whose memory is accounted for but never refused.
pub(super) fn with_granted_memory(context: &TaskContext) -> Arc<TaskContext> {
    let runtime = RuntimeEnv::clone(&context.runtime_env());
    let memory_pool = Arc::new(Granted(Arc::clone(context.memory_pool())));
    let runtime = Arc::new(RuntimeEnv { memory_pool, ..runtime });
    let config = context.session_config().clone();
    // Plans contain their functions.
    Arc::new(TaskContext::default().with_session_config(config).with_runtime(runtime))
}

#[derive(Debug)]
struct Granted(Arc<dyn MemoryPool>);

impl MemoryPool for Granted {
    fn name(&self) -> &'static str {
        "granted"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.0.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.0.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.0.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.0.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        self.0.grow(reservation, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.0.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.0.memory_limit()
    }
}

impl fmt::Display for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, granted", self.0)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    #[test]
    fn what_is_granted_is_accounted_for() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(100));
        let granted: Arc<dyn MemoryPool> = Arc::new(Granted(Arc::clone(&pool)));
        let join = MemoryConsumer::new("a join").register(&granted);
        join.try_grow(130).unwrap();
        assert_eq!(pool.reserved(), 130);
        assert!(MemoryConsumer::new("another").register(&pool).try_grow(1).is_err());
        drop(join);
        assert_eq!(pool.reserved(), 0);
    }
}
