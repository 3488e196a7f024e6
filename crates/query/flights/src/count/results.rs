use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use nandle_io::Nanos;

use super::dense::Dense;
use super::memory::{MemoryCounter, Store};
use super::partitions::Partition;
use super::table::Table;
use super::{CountError, KeySpace, RESULT_GROUPS};
use crate::ThreadClock;

/// Maximum batches of a thread waiting to be taken.
const BATCHES_WAITING: usize = 4;

/// Method of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountMethod {
    /// An array with a cell for each combination of values.
    #[default]
    Dense,
    /// Partitions, each with a hash table.
    Partitions,
    /// Partitions, with groups written as sorted runs to temporary space and merged at the end.
    Runs,
    /// One group of dimensions at a time, from sorted input.
    Sorted,
    /// One value of a column at a time, such as months: its groups are handed out once the last row
    /// group with the value was counted.
    ByValue,
}

/// Report of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CountReport {
    /// Method of counting.
    pub method: CountMethod,
    /// Counted rows.
    pub rows: u64,
    /// Groups handed out so far.
    pub groups: u64,
    /// Groups handed out before all rows were counted, by [`CountMethod::ByValue`]; the others were
    /// counted by `method`.
    pub early_groups: u64,
    /// Number of times that keys were condensed to groups.
    pub condensed: u64,
    /// Bytes written to temporary space.
    pub spilled_bytes: u64,
    /// Runs written to temporary space.
    pub runs: u64,
}

/// Groups counted in memory, in batches. With partitions their order is unspecified but
/// deterministic.
pub struct MemoryCounts {
    groups: Groups,
    report: CountReport,
    threads_cpu: Nanos,
}

enum Groups {
    Dense {
        space: Arc<KeySpace>,
        dense: Dense,
        next: u64,
    },
    Here(Emission),
    Threads {
        receivers: VecDeque<Receiver<Result<RecordBatch, CountError>>>,
        handles: Vec<JoinHandle<Nanos>>,
    },
}

impl MemoryCounts {
    pub(super) fn new(counter: MemoryCounter, threads: usize, clock: ThreadClock) -> Self {
        let MemoryCounter { space, store, rows, .. } = counter;
        let mut report = CountReport { rows, ..CountReport::default() };
        let groups = match store {
            Store::Dense(dense) => Groups::Dense { space, dense, next: 0 },
            Store::Partitions(partitions) => {
                report.method = CountMethod::Partitions;
                report.condensed = partitions.condensed;
                let partitions = partitions.into_partitions();
                if threads > 1 {
                    spread(&space, partitions, threads, clock)
                } else {
                    Groups::Here(Emission::new(space, partitions))
                }
            }
        };
        Self { groups, report, threads_cpu: Nanos::ZERO }
    }

    /// Returns the next groups: the columns' values, and `count`. `None` at the end.
    ///
    /// # Errors
    /// A thread ended without a result; columns don't form a batch.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, CountError> {
        let batch = match &mut self.groups {
            Groups::Dense { space, dense, next } => {
                let (keys, counts, end) = dense.groups(*next, RESULT_GROUPS);
                *next = end;
                if keys.is_empty() { None } else { Some(space.batch(&keys, counts)?) }
            }
            Groups::Here(emission) => emission.next()?,
            Groups::Threads { receivers, handles } => receive(receivers, handles, &mut self.threads_cpu)?,
        };
        self.report.groups += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        Ok(batch)
    }

    /// Processor time of the threads that counted results; complete at the end.
    pub fn threads_cpu(&self) -> Nanos {
        self.threads_cpu
    }

    /// Report so far.
    pub fn report(&self) -> CountReport {
        self.report
    }
}

/// Counts partitions one by one, and returns their groups in batches.
struct Emission {
    space: Arc<KeySpace>,
    partitions: std::vec::IntoIter<Partition>,
    table: Table,
    /// Position of the remaining groups in the table.
    at: usize,
    keys: Vec<u64>,
}

impl Emission {
    fn new(space: Arc<KeySpace>, partitions: Vec<Partition>) -> Self {
        let table = Table::new(&space);
        Self { space, partitions: partitions.into_iter(), table, at: 0, keys: Vec::new() }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, CountError> {
        self.keys.clear();
        let mut counts = Vec::with_capacity(RESULT_GROUPS);
        loop {
            self.at = self.table.take(self.at, RESULT_GROUPS, &mut self.keys, &mut counts);
            if self.keys.len() == RESULT_GROUPS {
                break;
            }
            let Some(partition) = self.partitions.next() else { break };
            partition.count(&mut self.table);
            self.at = 0;
        }
        if self.keys.is_empty() { Ok(None) } else { self.space.batch(&self.keys, counts).map(Some) }
    }
}

/// Distributes partitions round-robin among threads.
fn spread(space: &Arc<KeySpace>, partitions: Vec<Partition>, threads: usize, clock: ThreadClock) -> Groups {
    let mut shares: Vec<Vec<Partition>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, partition) in partitions.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(number % threads) {
            share.push(partition);
        }
    }
    let (mut receivers, mut handles) = (VecDeque::new(), Vec::new());
    for share in shares {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        let emission = Emission::new(Arc::clone(space), share);
        handles.push(std::thread::spawn(move || {
            let began_at = clock();
            send_all(emission, &sender);
            clock().since(began_at)
        }));
        receivers.push_back(receiver);
    }
    Groups::Threads { receivers, handles }
}

fn send_all(mut emission: Emission, sender: &SyncSender<Result<RecordBatch, CountError>>) {
    while let Some(batch) = emission.next().transpose() {
        let is_last = batch.is_err();
        if sender.send(batch).is_err() || is_last {
            return;
        }
    }
}

/// Takes a batch of each thread in turn, until all have ended.
fn receive(
    receivers: &mut VecDeque<Receiver<Result<RecordBatch, CountError>>>,
    handles: &mut Vec<JoinHandle<Nanos>>,
    cpu: &mut Nanos,
) -> Result<Option<RecordBatch>, CountError> {
    while let Some(receiver) = receivers.pop_front() {
        if let Ok(batch) = receiver.recv() {
            receivers.push_back(receiver);
            return batch.map(Some);
        }
    }
    for handle in handles.drain(..) {
        *cpu += handle.join().map_err(|_| CountError::Thread)?;
    }
    Ok(None)
}

impl Drop for MemoryCounts {
    fn drop(&mut self) {
        if let Groups::Threads { receivers, handles } = &mut self.groups {
            // Without receivers the threads end.
            receivers.clear();
            for handle in handles.drain(..) {
                let _ = handle.join();
            }
        }
    }
}
