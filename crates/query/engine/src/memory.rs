//! Memory of an engine besides that of operators and planned reads.

use std::sync::Arc;

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use nandle_reads::KeptMemory;

use crate::EngineError;

/// Share of the memory (1 / n) kept by all reading threads together while idle, and its maximum.
const KEPT_PART: u64 = 16;
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Memory shared by an engine's tables.
#[derive(Debug)]
pub(crate) struct TablesMemory {
    pool: Arc<dyn MemoryPool>,
    /// Memory that reading threads keep for the next scan.
    pub(crate) kept: KeptMemory,
    _kept: HeldMemory,
}

impl TablesMemory {
    /// Reserves the kept memory in a pool of `pool_bytes`.
    pub(crate) fn new(pool: Arc<dyn MemoryPool>, pool_bytes: u64) -> Result<Self, EngineError> {
        let kept_bytes = usize::try_from(pool_bytes / KEPT_PART).unwrap_or(usize::MAX).min(KEPT_BYTES_MAX);
        let kept = HeldMemory::new("memory kept for the next reads", &pool);
        kept.grow(kept_bytes)?;
        Ok(Self { pool, kept: KeptMemory::new(kept_bytes), _kept: kept })
    }

    /// Reserves bytes until the result is dropped.
    pub(crate) fn hold(&self, what: &str, bytes: usize) -> Result<HeldMemory, EngineError> {
        let held = HeldMemory::new(what, &self.pool);
        held.grow(bytes)?;
        Ok(held)
    }
}

/// Reserved memory of an engine, released on drop.
#[derive(Debug)]
pub struct HeldMemory(MemoryReservation);

impl HeldMemory {
    /// Reserves nothing yet; messages name the memory `what`.
    pub(crate) fn new(what: &str, pool: &Arc<dyn MemoryPool>) -> Self {
        Self(MemoryConsumer::new(what).register(pool))
    }

    /// Reserves more.
    ///
    /// # Errors
    /// The memory is exhausted; the error names the largest consumers.
    pub fn grow(&self, bytes: usize) -> Result<(), EngineError> {
        Ok(self.0.try_grow(bytes)?)
    }

    /// Reserved bytes.
    pub fn bytes(&self) -> usize {
        self.0.size()
    }
}
