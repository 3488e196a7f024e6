use std::sync::Arc;

use nandle_io::runtime::Handle;

use super::division::MemoryDivision;
use super::finish::{Finished, finish, finish_in_parts};
use super::options::SortOptions;
use super::shared::Shared;
use super::sorted::Sorted;
use super::sorter::Sorter;
use crate::SpillError;
use crate::space::Place;

/// One sort that several threads make, each in a world of its own, all in one budget and one temporary space.
///
/// Each thread gets a [`Sorter`] and ends it with [`Sorter::end`]; then one of them [finishes](Self::finish) the sort. The device
/// of the place must be the same one, under the same number, in all worlds.
///
/// Rows of different threads with equal keys are in order only where each thread takes rows one behind the other from a common source,
/// as many as have [room](Sorter::try_push), and writes them while others take theirs.
#[derive(Clone)]
pub struct ParallelSort {
    shared: Arc<Shared>,
}

impl ParallelSort {
    /// A sort by so many threads.
    ///
    /// # Errors
    /// The budget is too small for so many. Or rows become fewer, by a limit or by combining, and those with equal keys must keep
    /// their order: this takes one thread.
    pub fn new(place: Place, options: SortOptions, threads: usize) -> Result<Self, SpillError> {
        if threads > 1 && options.stable && options.condenses() {
            return Err(SpillError::Options {
                what: "the number of threads",
                got: format!("{threads}"),
                expected: "one, because the order of rows with equal keys matters to what is left of them"
                    .to_owned(),
            });
        }
        let memory = MemoryDivision::of(&options, threads.max(1))?;
        Ok(Self { shared: Shared::new(place, options, memory)? })
    }

    /// The sorter of a thread; as many as there are threads.
    ///
    /// # Errors
    /// More are asked for than memory was divided for.
    pub fn sorter(&self, handle: &Handle) -> Result<Sorter, SpillError> {
        Sorter::of(handle, &self.shared)
    }

    /// Whether anything had to be written so far.
    pub fn has_spilled(&self) -> bool {
        self.shared.has_spilled()
    }

    /// The order of all rows. All sorters have ended.
    ///
    /// # Errors
    /// The temporary space is full, or its device failed.
    pub async fn finish(self, handle: &Handle) -> Result<Sorted, SpillError> {
        finish(handle, &self.shared).await
    }

    /// The same in parts by ranges of keys, about equally long, that threads merge at the same time: so many at most, as few as fit into
    /// the budget together, and only one where everything is in memory or there is a limit.
    ///
    /// # Errors
    /// As for [`finish`](Self::finish).
    pub async fn finish_in_parts(self, handle: &Handle, parts: usize) -> Result<Finished, SpillError> {
        finish_in_parts(handle, &self.shared, parts).await
    }
}
