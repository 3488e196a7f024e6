//! Merges the counts of several threads: in memory, or as runs on temporary space if one was full.

use std::sync::Arc;

use super::scan::{Counting, TemporarySpace};
use super::{CubeError, ThreadClock};
use crate::count::{Counter, Counts, MemoryCounts, Shares};
use crate::{CountError, KeySpace, MemoryCounter};

/// Counts of the threads.
pub(super) struct Tally {
    key_space: Arc<KeySpace>,
    shares: Shares,
    space: Option<TemporarySpace>,
    runs: Option<Counter>,
}

/// Groups of all threads.
pub(super) enum AllCounts {
    Runs(Counts),
    Memory(MemoryCounts),
}

impl Tally {
    pub(super) fn new(
        key_space: &Arc<KeySpace>,
        counting: Counting,
        threads: usize,
    ) -> Result<Self, CountError> {
        let shares = Shares::of(key_space, counting.memory_bytes, threads, counting.space.is_some())?;
        Ok(Self { key_space: Arc::clone(key_space), shares, space: counting.space, runs: None })
    }

    /// Creates a counter for each thread that fits in memory. `by_value_bytes` are reserved for
    /// counting by values, over all threads.
    pub(super) fn counters(&self, by_value_bytes: usize) -> Result<Vec<MemoryCounter>, CountError> {
        let Shares { threads, thread_bytes, .. } = self.shares;
        let rest_bytes = thread_bytes - by_value_bytes / threads;
        (0..threads).map(|_| MemoryCounter::new(&self.key_space, rest_bytes)).collect()
    }

    /// Memory for counting by values, over all threads: half, unless the rest needs more. Zero if
    /// the rest fits in an array with all the memory, but not with half of it.
    pub(super) fn by_value_bytes(&self) -> usize {
        let Shares { threads, thread_bytes, .. } = self.shares;
        let bytes = (thread_bytes / 2).min(thread_bytes.saturating_sub(MemoryCounter::MEMORY_BYTES_MIN));
        let is_dense = |bytes| MemoryCounter::is_dense(&self.key_space, bytes);
        if is_dense(thread_bytes) && !is_dense(thread_bytes - bytes) { 0 } else { threads * bytes }
    }

    /// Spills a full counter.
    pub(super) async fn spill(&mut self, counter: &mut MemoryCounter) -> Result<(), CountError> {
        let runs = match (&mut self.runs, self.space.take()) {
            (Some(runs), _) => runs,
            (none, Some(TemporarySpace { handle, place, costs })) => {
                none.insert(Counter::of_runs(&self.key_space, self.shares.runs_bytes, &handle, place, costs)?)
            }
            (None, None) => return Err(counter.no_room()),
        };
        runs.absorb(counter).await
    }

    /// Merges all counters.
    pub(super) async fn finish(
        mut self,
        counters: Vec<MemoryCounter>,
        threads: usize,
        clock: ThreadClock,
    ) -> Result<AllCounts, CubeError> {
        if let Some(mut runs) = self.runs.take() {
            for mut counter in counters {
                runs.absorb(&mut counter).await?;
            }
            return Ok(AllCounts::Runs(runs.finish(threads, clock).await?));
        }
        let all = counters.into_iter().reduce(|mut all, counter| {
            all.absorb(counter);
            all
        });
        Ok(AllCounts::Memory(all.ok_or(CountError::Thread)?.finish(threads, clock)))
    }
}
