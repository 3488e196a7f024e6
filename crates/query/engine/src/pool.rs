//! The memory that operators and reads share.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation, TrackConsumersPool,
};

/// So many of those that hold most memory are named when there is none left.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(5).unwrap();

/// Joins that gather the rows of one side, and copy them into one batch when they have all. The engine accounts for the rows once.
const COPYING: [&str; 3] = ["HashJoinInput", "NestedLoopJoinLoad", "CrossJoinExec"];

/// So much memory; operators that spill have equal parts of what others leave.
pub(crate) fn memory_pool(bytes: usize) -> Arc<dyn MemoryPool> {
    Arc::new(TrackConsumersPool::new(WithCopies(FairSpillPool::new(bytes)), NAMED_CONSUMERS))
}

/// A pool in which those that copy what they hold have room for that, too.
#[derive(Debug)]
struct WithCopies(FairSpillPool);

/// What is accounted for when a consumer asks for so much.
fn with_copy(reservation: &MemoryReservation, bytes: usize) -> usize {
    let name = reservation.consumer().name();
    if COPYING.iter().any(|copying| name.starts_with(copying)) { bytes.saturating_mul(2) } else { bytes }
}

impl MemoryPool for WithCopies {
    fn name(&self) -> &'static str {
        "fair, with copies"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.0.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.0.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.0.grow(reservation, with_copy(reservation, additional));
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.0.shrink(reservation, with_copy(reservation, shrink));
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        self.0.try_grow(reservation, with_copy(reservation, additional))
    }

    fn reserved(&self) -> usize {
        self.0.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.0.memory_limit()
    }
}

impl fmt::Display for WithCopies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, with room for copies", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_that_copies_its_rows_has_room_for_the_copy() {
        let pool = memory_pool(100);
        let join = MemoryConsumer::new("HashJoinInput[3]").register(&pool);
        join.try_grow(40).unwrap();
        assert_eq!(pool.reserved(), 80);
        let other = MemoryConsumer::new("GraceHashJoin[3]").register(&pool);
        assert!(other.try_grow(21).is_err());
        other.try_grow(20).unwrap();
        assert!(join.try_grow(1).is_err());
        drop((join, other));
        assert_eq!(pool.reserved(), 0);
    }
}
