use std::sync::Arc;

use super::dense::Dense;
use super::partitions::Partitions;
use super::results::MemoryCounts;
use super::table::Pair;
use super::{CodeBatch, CountError, KeySpace};
use crate::ThreadClock;

/// Counter in memory, which reports when that is full. It can be sent to another thread. Several
/// are merged by [`absorb`](Self::absorb), or by [`Counter::absorb`](super::Counter::absorb), which
/// spills.
pub struct MemoryCounter {
    pub(super) space: Arc<KeySpace>,
    pub(super) store: Store,
    pub(super) rows: u64,
    memory_bytes: usize,
    keys: Vec<u64>,
}

pub(super) enum Store {
    Dense(Dense),
    Partitions(Partitions),
}

impl MemoryCounter {
    /// Minimum memory.
    pub const MEMORY_BYTES_MIN: usize = Partitions::BYTES_MIN;

    /// Creates a counter with `memory_bytes`.
    ///
    /// # Errors
    /// The memory is less than [`Self::MEMORY_BYTES_MIN`].
    pub fn new(space: &Arc<KeySpace>, memory_bytes: usize) -> Result<Self, CountError> {
        if memory_bytes < Self::MEMORY_BYTES_MIN {
            return Err(CountError::Memory {
                purpose: "counting",
                needed_bytes: Self::MEMORY_BYTES_MIN as u64,
                memory_bytes: memory_bytes as u64,
            });
        }
        let store = match usize::try_from(space.cells()) {
            Ok(cells) if Self::is_dense(space, memory_bytes) => Store::Dense(Dense::new(cells)),
            _ => Store::Partitions(Partitions::new(space, memory_bytes)),
        };
        let keys = Vec::with_capacity(CodeBatch::TILE_ROWS);
        Ok(Self { space: Arc::clone(space), store, rows: 0, memory_bytes, keys })
    }

    /// Returns true if a space is counted in an array with this memory.
    pub(crate) fn is_dense(space: &KeySpace, memory_bytes: usize) -> bool {
        space.cells() <= KeySpace::DENSE_CELLS_MAX && Dense::bytes(space.cells()) <= memory_bytes as u64 / 2
    }

    /// Counts rows of a batch from `from` on. Returns the row to continue from: the end of the
    /// batch, or the row at which the memory was full.
    pub fn try_push(&mut self, batch: &CodeBatch<'_>, from: usize) -> usize {
        let mut from = from;
        while from < batch.rows() {
            if let Store::Partitions(partitions) = &mut self.store
                && !partitions.make_room(CodeBatch::TILE_ROWS)
            {
                return from;
            }
            if let Store::Dense(dense) = &mut self.store
                && batch.are_runs(None)
            {
                batch.each_run(None, from..batch.rows(), |key, rows| dense.add_run(key, rows));
                self.rows += (batch.rows() - from) as u64;
                return batch.rows();
            }
            batch.keys(from, &mut self.keys);
            match &mut self.store {
                Store::Dense(dense) => dense.add(&self.keys),
                Store::Partitions(partitions) => partitions.add(&self.keys),
            }
            from += self.keys.len();
            self.rows += self.keys.len() as u64;
        }
        from
    }

    /// Adds groups counted elsewhere, if they fit.
    pub(crate) fn try_add_groups(&mut self, pairs: &[Pair]) -> bool {
        match &mut self.store {
            Store::Dense(dense) => {
                for pair in pairs {
                    dense.add_group(*pair);
                }
                true
            }
            Store::Partitions(partitions) => partitions.try_absorb_groups(pairs),
        }
    }

    /// Counts a batch.
    ///
    /// # Errors
    /// The memory is full.
    pub fn push(&mut self, batch: &CodeBatch<'_>) -> Result<(), CountError> {
        if self.try_push(batch, 0) < batch.rows() { Err(self.no_room()) } else { Ok(()) }
    }

    /// Error for full memory.
    pub(crate) fn no_room(&self) -> CountError {
        let memory_bytes = self.memory_bytes as u64;
        let needed_bytes = memory_bytes.saturating_mul(2);
        CountError::Memory { purpose: "counting so many groups", needed_bytes, memory_bytes }
    }

    /// Adds the groups and the memory of another counter of the same space.
    pub fn absorb(&mut self, other: Self) {
        self.rows += other.rows;
        self.memory_bytes += other.memory_bytes;
        match (&mut self.store, other.store) {
            (Store::Dense(mine), Store::Dense(others)) => mine.absorb(&others),
            (Store::Partitions(mine), Store::Partitions(others)) => mine.absorb(others),
            // With different amounts of memory, only one may use an array.
            (Store::Partitions(mine), Store::Dense(others)) => mine.absorb_groups(&others.pairs()),
            (Store::Dense(mine), Store::Partitions(others)) => {
                others.into_pairs().for_each(|pair| mine.add_group(pair));
            }
        }
    }

    /// Takes all groups out.
    pub(super) fn take_pairs(&mut self) -> Box<dyn Iterator<Item = Pair>> {
        match &mut self.store {
            Store::Partitions(partitions) => Box::new(partitions.drain()),
            Store::Dense(dense) => Box::new(dense.take_pairs().into_iter()),
        }
    }

    /// Counts the groups with several threads, each with its own partitions. `clock` measures their
    /// processor time.
    pub fn finish(self, threads: usize, clock: ThreadClock) -> MemoryCounts {
        MemoryCounts::new(self, threads, clock)
    }
}
