use std::sync::Arc;

use nandle_io::runtime::Handle;

use super::division::MemoryDivision;
use super::finish::{SortOutput, finish, finish_in_parts};
use super::options::SortOptions;
use super::shared::Shared;
use super::sorted::Sorted;
use super::sorter::Sorter;
use crate::SpillError;
use crate::space::Place;

/// A sort by several threads. Each thread has its own world; all share one budget and one temporary
/// space.
///
/// Each thread gets a [`Sorter`] and ends it with [`Sorter::end`]. Then one of them
/// [finishes](Self::finish) the sort. The device of the place must have the same number in all
/// worlds.
///
/// Rows of different threads with equal keys keep their order only if the threads take turns at a
/// common source: each takes as many consecutive rows as it has [room](Sorter::try_push) for, and
/// writes them while others take theirs.
#[derive(Clone)]
pub struct ParallelSort {
    shared: Arc<Shared>,
}

impl ParallelSort {
    /// Creates a sort by `threads` threads.
    ///
    /// # Errors
    ///
    /// The budget is too small for `threads` threads. Or rows with equal keys must keep their order
    /// while they are limited or combined: this takes a single thread.
    pub fn new(place: Place, options: SortOptions, threads: usize) -> Result<Self, SpillError> {
        if threads > 1 && options.stable && options.condenses() {
            return Err(SpillError::Options {
                what: "the number of threads",
                got: format!("{threads}"),
                expected: "one, because limiting or combining rows in order takes a single thread".to_owned(),
            });
        }
        let memory = MemoryDivision::of(&options, threads.max(1))?;
        Ok(Self { shared: Shared::new(place, options, memory)? })
    }

    /// Creates the sorter of a thread, at most one for each thread.
    ///
    /// # Errors
    ///
    /// More sorters were requested than threads.
    pub fn sorter(&self, handle: &Handle) -> Result<Sorter, SpillError> {
        Sorter::of(handle, &self.shared)
    }

    /// Returns true if any rows have been written.
    pub fn has_spilled(&self) -> bool {
        self.shared.has_spilled()
    }

    /// Merges the rows of all sorters, which must have ended.
    ///
    /// # Errors
    /// The temporary space is full, or its device failed.
    pub async fn finish(self, handle: &Handle) -> Result<Sorted, SpillError> {
        finish(handle, &self.shared).await
    }

    /// Merges the rows of all sorters in parts, by ranges of keys of about equal length. Threads
    /// can merge the parts concurrently. There are at most `parts`, and no more than fit into the
    /// budget together. If everything is in memory, or there is a limit, there is only one.
    ///
    /// # Errors
    /// As for [`finish`](Self::finish).
    pub async fn finish_in_parts(self, handle: &Handle, parts: usize) -> Result<SortOutput, SpillError> {
        finish_in_parts(handle, &self.shared, parts).await
    }
}
