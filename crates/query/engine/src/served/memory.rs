//! A share of an engine's memory.

use std::fmt;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// A share of a pool for one query whose operators may spill. It is a consumer of the pool, so the
/// limits of both apply.
#[derive(Debug)]
pub(super) struct PartOfMemory {
    own: FairSpillPool,
    of_whole: MemoryReservation,
}

impl PartOfMemory {
    /// Creates a share of 1 / `parts`; unlimited if the pool is.
    pub(super) fn new(whole: &Arc<dyn MemoryPool>, name: &str, parts: usize) -> Self {
        let bytes = match whole.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes / parts.max(1),
            MemoryLimit::Infinite | MemoryLimit::Unknown => usize::MAX,
        };
        Self { own: FairSpillPool::new(bytes), of_whole: MemoryConsumer::new(name).register(whole) }
    }
}

impl MemoryPool for PartOfMemory {
    fn name(&self) -> &'static str {
        "part"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.own.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.own.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.own.grow(reservation, additional);
        self.of_whole.grow(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.own.shrink(reservation, shrink);
        self.of_whole.shrink(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        self.own.try_grow(reservation, additional)?;
        self.of_whole.try_grow(additional).inspect_err(|_| self.own.shrink(reservation, additional))
    }

    fn reserved(&self) -> usize {
        self.own.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.own.memory_limit()
    }
}

impl fmt::Display for PartOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a part of the memory, {}", self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_limit_and_counts_in_the_whole() {
        let whole: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(400));
        let part: Arc<dyn MemoryPool> = Arc::new(PartOfMemory::new(&whole, "part", 4));
        let of_part = MemoryConsumer::new("operator").with_can_spill(true).register(&part);
        of_part.try_grow(60).unwrap();
        assert_eq!((part.reserved(), whole.reserved()), (60, 60));
        assert!(of_part.try_grow(41).is_err(), "the part is full");
        let other = MemoryConsumer::new("other").register(&whole);
        other.try_grow(330).unwrap();
        assert!(of_part.try_grow(20).is_err(), "the whole is full");
        assert_eq!((part.reserved(), whole.reserved()), (60, 390));
        of_part.shrink(20);
        assert_eq!((part.reserved(), whole.reserved()), (40, 370));
        drop(of_part);
        assert_eq!((part.reserved(), whole.reserved()), (0, 330));
    }
}
