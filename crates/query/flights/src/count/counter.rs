use std::sync::Arc;

use arrow_array::RecordBatch;
use nandle_io::Nanos;
use nandle_io::runtime::Handle;
use nandle_spill::{Budget, Place, Row, SortOptions, Sorted, Sorter, SpillCosts};

use super::memory::Store;
use super::results::{CountMethod, CountReport, MemoryCounts};
use super::table::Pair;
use super::{CodeBatch, CountError, KeySpace, MemoryCounter, RESULT_GROUPS, Shares};
use crate::ThreadClock;

/// Exact counter within a stated amount of memory. If it is full, groups are written as sorted runs
/// to temporary space, and merged at the end.
pub struct Counter {
    handle: Handle,
    place: Place,
    costs: SpillCosts,
    memory: MemoryCounter,
    sorter_bytes: usize,
    sorter: Option<Sorter>,
}

/// Parses a big-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Counter {
    /// Minimum memory.
    pub const MEMORY_BYTES_MIN: usize = 16 << 20;

    /// Creates a counter with `memory_bytes`, a quarter of which is reserved for runs. Temporary
    /// space is at `place` of a device in the runtime's world.
    ///
    /// # Errors
    /// The memory is less than [`Self::MEMORY_BYTES_MIN`].
    pub fn new(
        space: &Arc<KeySpace>,
        memory_bytes: usize,
        handle: &Handle,
        place: Place,
        costs: SpillCosts,
    ) -> Result<Self, CountError> {
        let Shares { thread_bytes, runs_bytes, .. } = Shares::of(space, memory_bytes, 1, true)?;
        let memory = MemoryCounter::new(space, thread_bytes)?;
        Ok(Self { handle: handle.clone(), place, costs, memory, sorter_bytes: runs_bytes, sorter: None })
    }

    /// Creates a counter only for runs: it [absorbs](Self::absorb) the groups of others, and writes
    /// them as runs.
    pub(crate) fn of_runs(
        space: &Arc<KeySpace>,
        sorter_bytes: usize,
        handle: &Handle,
        place: Place,
        costs: SpillCosts,
    ) -> Result<Self, CountError> {
        let memory = MemoryCounter::new(space, MemoryCounter::MEMORY_BYTES_MIN)?;
        Ok(Self { handle: handle.clone(), place, costs, memory, sorter_bytes, sorter: None })
    }

    /// Counts a batch.
    ///
    /// # Errors
    /// Temporary space is full or failed.
    pub async fn push(&mut self, batch: &CodeBatch<'_>) -> Result<(), CountError> {
        let mut from = self.memory.try_push(batch, 0);
        while from < batch.rows() {
            self.spill().await?;
            from = self.memory.try_push(batch, from);
        }
        Ok(())
    }

    /// Counts rows of a batch from `from` on without waiting. Returns the row to continue from
    /// after [`spill`](Self::spill), if not all were counted.
    pub fn try_push(&mut self, batch: &CodeBatch<'_>, from: usize) -> usize {
        self.memory.try_push(batch, from)
    }

    /// Takes the groups of another thread's counter. Writes them to temporary space, unless this
    /// counter uses an array. Counters that fit in memory are merged by [`MemoryCounter::absorb`].
    ///
    /// # Errors
    /// See [`push`](Self::push).
    pub async fn absorb(&mut self, other: &mut MemoryCounter) -> Result<(), CountError> {
        self.memory.rows += std::mem::take(&mut other.rows);
        for pair in other.take_pairs() {
            match &mut self.memory.store {
                Store::Dense(dense) => dense.add_group(pair),
                Store::Partitions(_) => self.write(pair.0, pair.1).await?,
            }
        }
        Ok(())
    }

    /// Writes all groups in memory to temporary space.
    ///
    /// # Errors
    /// See [`push`](Self::push).
    pub async fn spill(&mut self) -> Result<(), CountError> {
        let groups = match &mut self.memory.store {
            Store::Dense(_) => None,
            Store::Partitions(partitions) => Some(partitions.drain()),
        };
        for (key, count) in groups.into_iter().flatten() {
            self.write(key, count).await?;
        }
        Ok(())
    }

    async fn write(&mut self, key: u64, count: u64) -> Result<(), CountError> {
        let sorter = match &mut self.sorter {
            Some(sorter) => sorter,
            None => self.sorter.insert(self.begin_runs()?),
        };
        let key = key.to_be_bytes();
        let key = key.get(key.len() - self.memory.space.key_bytes()..).unwrap_or_default();
        let count = count.to_be_bytes();
        let zeros = count.iter().take_while(|byte| **byte == 0).count();
        let payload = count.get(zeros..).unwrap_or_default();
        Ok(sorter.push(Row { key, payload }).await?)
    }

    fn begin_runs(&self) -> Result<Sorter, CountError> {
        let budget = Budget::new(self.sorter_bytes)?;
        // Groups within a run are distinct. Those of several runs are added on output: combining in
        // the sorter would compare keys within each run in vain, which took half of the time.
        let options = SortOptions::new(budget, self.costs.clone());
        Ok(Sorter::new(&self.handle, self.place, options)?)
    }

    /// Returns the groups. If they fit in memory, this many threads count them.
    ///
    /// # Errors
    /// See [`push`](Self::push).
    pub async fn finish(mut self, threads: usize, clock: ThreadClock) -> Result<Counts, CountError> {
        if self.sorter.is_none() {
            return Ok(Counts { groups: Groups::Memory(self.memory.finish(threads, clock)) });
        }
        self.spill().await?;
        let Self { memory, sorter, .. } = self;
        let (space, rows) = (Arc::clone(&memory.space), memory.rows);
        let condensed = match &memory.store {
            Store::Dense(_) => 0,
            Store::Partitions(partitions) => partitions.condensed,
        };
        drop(memory);
        let Some(sorter) = sorter else { unreachable!("groups were written") };
        let report = CountReport { method: CountMethod::Runs, rows, condensed, ..CountReport::default() };
        let groups = Groups::Runs { space, sorted: Box::new(sorter.finish().await?), held: None, report };
        Ok(Counts { groups })
    }
}

/// Counted groups in batches; those from runs are in the order of their codes.
pub struct Counts {
    groups: Groups,
}

enum Groups {
    Memory(MemoryCounts),
    Runs { space: Arc<KeySpace>, sorted: Box<Sorted>, held: Option<Pair>, report: CountReport },
}

impl Counts {
    /// Returns the next groups: the columns' values, and `count`. `None` at the end.
    ///
    /// # Errors
    /// Temporary space failed.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>, CountError> {
        match &mut self.groups {
            Groups::Memory(counts) => counts.next_batch(),
            Groups::Runs { space, sorted, held, report } => {
                let (mut keys, mut counts) =
                    (Vec::with_capacity(RESULT_GROUPS), Vec::with_capacity(RESULT_GROUPS));
                // The last group may continue.
                if let Some((key, count)) = held.take() {
                    keys.push(key);
                    counts.push(count);
                }
                while let Some(row) = sorted.next().await? {
                    let (key, count) = (number(row.key), number(row.payload));
                    match counts.last_mut() {
                        Some(last) if keys.last() == Some(&key) => *last += count,
                        Some(_) if keys.len() >= RESULT_GROUPS => {
                            *held = Some((key, count));
                            break;
                        }
                        Some(_) | None => {
                            keys.push(key);
                            counts.push(count);
                        }
                    }
                }
                report.groups += keys.len() as u64;
                if keys.is_empty() { Ok(None) } else { space.batch(&keys, counts).map(Some) }
            }
        }
    }

    /// Processor time of the threads that counted results; complete at the end.
    pub fn threads_cpu(&self) -> Nanos {
        match &self.groups {
            Groups::Memory(counts) => counts.threads_cpu(),
            Groups::Runs { .. } => Nanos::ZERO,
        }
    }

    /// Report so far.
    pub fn report(&self) -> CountReport {
        match &self.groups {
            Groups::Memory(counts) => counts.report(),
            Groups::Runs { sorted, report, .. } => {
                let sort = sorted.report();
                CountReport { spilled_bytes: sort.written_bytes, runs: sort.runs, ..*report }
            }
        }
    }
}
