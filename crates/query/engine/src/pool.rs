//! Memory pool shared by operators and reads.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation, TrackConsumersPool,
};

use crate::session::sort_reservation_bytes;

/// Number of largest consumers named when the memory is exhausted.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(5).unwrap();

/// Joins that gather one side's rows and then copy them into one batch. The engine accounts for the
/// rows only once.
const COPYING: [&str; 3] = ["HashJoinInput", "NestedLoopJoinLoad", "CrossJoinExec"];

/// Consumer of sorts' reservations for merging, made before they take rows. Although these are
/// small, sorts would fail if others have reserved all memory by then.
const MERGING: &str = "ExternalSorterMerge";

/// Creates a pool. Spilling operators share the remaining memory equally.
pub(crate) fn memory_pool(bytes: usize) -> Arc<dyn MemoryPool> {
    let merging_bytes = sort_reservation_bytes(bytes as u64);
    let pool = WithCopies { fair: FairSpillPool::new(bytes), merging_bytes };
    Arc::new(TrackConsumersPool::new(pool, NAMED_CONSUMERS))
}

/// A pool that reserves copies for joins that make them, and grants sorts a little memory for
/// merging.
#[derive(Debug)]
struct WithCopies {
    fair: FairSpillPool,
    merging_bytes: usize,
}

/// Bytes to account for when a consumer requests `bytes`.
fn with_copy(reservation: &MemoryReservation, bytes: usize) -> usize {
    let name = reservation.consumer().name();
    if COPYING.iter().any(|copying| name.starts_with(copying)) { bytes.saturating_mul(2) } else { bytes }
}

impl MemoryPool for WithCopies {
    fn name(&self) -> &'static str {
        "fair, with copies"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.fair.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.fair.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.fair.grow(reservation, with_copy(reservation, additional));
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.fair.shrink(reservation, with_copy(reservation, shrink));
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        let grown = self.fair.try_grow(reservation, with_copy(reservation, additional));
        let is_merging = || reservation.consumer().name().starts_with(MERGING);
        if grown.is_err() && is_merging() && reservation.size() + additional <= self.merging_bytes {
            self.fair.grow(reservation, additional);
            return Ok(());
        }
        grown
    }

    fn reserved(&self) -> usize {
        self.fair.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.fair.memory_limit()
    }
}

impl fmt::Display for WithCopies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, with room for copies", self.fair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_can_always_merge_in_a_little() {
        let pool = memory_pool(6400);
        let all = MemoryConsumer::new("RepartitionExec[0]").register(&pool);
        all.try_grow(6400).unwrap();
        let merge = MemoryConsumer::new("ExternalSorterMerge[0]").register(&pool);
        merge.try_grow(60).unwrap();
        merge.try_grow(40).unwrap();
        assert!(merge.try_grow(1).is_err());
        assert_eq!(pool.reserved(), 6500);
        drop((all, merge));
        assert_eq!(pool.reserved(), 0);
    }

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
