//! What takes of an engine's memory beside operators and planned reads.

use std::sync::Arc;

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use nandle_reads::KeptMemory;

use crate::EngineError;

/// The part of the memory that stays with the threads that read, all together, while nothing is read.
const KEPT_PART: u64 = 16;
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The memory that an engine's tables share.
#[derive(Debug)]
pub(crate) struct TablesMemory {
    pool: Arc<dyn MemoryPool>,
    /// What threads that read keep for the next scan.
    pub(crate) kept: KeptMemory,
    _kept: HeldMemory,
}

impl TablesMemory {
    /// Takes what is kept out of a pool of so many bytes.
    pub(crate) fn new(pool: Arc<dyn MemoryPool>, pool_bytes: u64) -> Result<Self, EngineError> {
        let kept_bytes = usize::try_from(pool_bytes / KEPT_PART).unwrap_or(usize::MAX).min(KEPT_BYTES_MAX);
        let kept = HeldMemory::new("memory kept for the next reads", &pool);
        kept.grow(kept_bytes)?;
        Ok(Self { pool, kept: KeptMemory::new(kept_bytes), _kept: kept })
    }

    /// Takes so many bytes, until what is returned is dropped.
    pub(crate) fn hold(&self, what: &str, bytes: usize) -> Result<HeldMemory, EngineError> {
        let held = HeldMemory::new(what, &self.pool);
        held.grow(bytes)?;
        Ok(held)
    }
}

/// A part of an engine's memory that something holds. Dropping it gives it back.
#[derive(Debug)]
pub struct HeldMemory(MemoryReservation);

impl HeldMemory {
    /// Nothing yet; `what` is what messages call it.
    pub(crate) fn new(what: &str, pool: &Arc<dyn MemoryPool>) -> Self {
        Self(MemoryConsumer::new(what).register(pool))
    }

    /// Takes more.
    ///
    /// # Errors
    /// The memory is used up; the error names who holds most of it.
    pub fn grow(&self, bytes: usize) -> Result<(), EngineError> {
        Ok(self.0.try_grow(bytes)?)
    }

    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.0.size()
    }
}
