use nandle_io::{Buffer, Completion, Durability, Nanos, Operation};
use smallvec::smallvec;

use crate::load::{Cancel, Contents, Lane, LoadError};

/// Size of the incompressible pool that writes are cut from.
const POOL_BYTES: usize = 1 << 20;
/// Alignment of a cut.
const CUT_BYTES: u64 = 4096;

/// A circular log like a database's: records are written sequentially, and the log restarts at its
/// beginning when it is full.
pub(super) struct Log {
    bytes: u64,
    next_bytes: u64,
    pool: Buffer,
    done: Vec<Completion>,
}

/// Writes of one commit and their durability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Commit {
    /// Bytes of each write.
    pub(super) write_bytes: u64,
    /// Consecutive writes.
    pub(super) writes: u32,
    /// Concurrent writes in each step.
    pub(super) writers: u32,
    /// Durability of each write. Volatile writes are followed by a flush.
    pub(super) durability: Durability,
}

/// Durations of a commit's parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// From the first submission to the last completion.
    pub(super) commit: Nanos,
    /// Duration of the flush; `None` if there is none.
    pub(super) flush: Option<Nanos>,
}

impl Commit {
    pub(super) fn bytes(&self) -> u64 {
        self.write_bytes * u64::from(self.writes) * u64::from(self.writers)
    }
}

impl Log {
    /// Creates a log at the start of a lane's device.
    pub(super) fn new(lane: &Lane, log_bytes: u64, seed: u64) -> Result<Self, LoadError> {
        let memory = |source| LoadError::Memory { queue_depth: 1, block_bytes: POOL_BYTES as u64, source };
        let mut pool = lane.arena().allocate(POOL_BYTES).map_err(memory)?;
        Contents::new(seed).fill(0, &mut pool);
        let bytes = log_bytes.min(lane.device().shape.capacity_bytes);
        Ok(Self { bytes, next_bytes: 0, pool: pool.freeze(), done: Vec::new() })
    }

    /// Restarts at the beginning.
    pub(super) fn restart(&mut self) {
        self.next_bytes = 0;
    }

    /// Returns true if another commit fits before the end.
    pub(super) fn has_room(&self, commit: &Commit) -> bool {
        self.place_of(commit) + commit.bytes() <= self.bytes
    }

    /// Next offset for writes of this size, aligned to it, as in a log of pages.
    fn place_of(&self, commit: &Commit) -> u64 {
        self.next_bytes.next_multiple_of(commit.write_bytes.max(1))
    }

    /// Writes a commit.
    ///
    /// # Errors
    /// A write or the flush failed, the device stopped answering, or the user interrupted it. After
    /// a failed flush the durable state is unknown: nothing more may be written.
    pub(super) fn commit(
        &mut self,
        lane: &mut Lane,
        commit: &Commit,
        cancel: &Cancel,
    ) -> Result<Times, LoadError> {
        if !self.has_room(commit) {
            self.restart();
        }
        self.next_bytes = self.place_of(commit);
        let mut times = Vec::new();
        for _ in 0..commit.writes {
            let writes = (0..commit.writers).map(|_| self.next_write(commit)).collect();
            times.extend(self.all(lane, writes, cancel)?);
        }
        let flush = match commit.durability {
            Durability::Durable => None,
            Durability::Volatile => self.all(lane, vec![Operation::Flush], cancel)?,
        };
        times.extend(flush);
        let began = times.first().map_or(Nanos::ZERO, |(began, _)| *began);
        let ended = times.last().map_or(Nanos::ZERO, |(_, ended)| *ended);
        Ok(Times { commit: ended.since(began), flush: flush.map(|(began, ended)| ended.since(began)) })
    }

    fn next_write(&mut self, commit: &Commit) -> Operation {
        let offset_bytes = self.next_bytes;
        self.next_bytes += commit.write_bytes;
        let length = usize::try_from(commit.write_bytes).unwrap_or(usize::MAX);
        let places = (self.pool.len() as u64).saturating_sub(commit.write_bytes) / CUT_BYTES + 1;
        let start = usize::try_from(offset_bytes / CUT_BYTES % places * CUT_BYTES).unwrap_or(0);
        let from = smallvec![self.pool.slice(start..start + length)];
        Operation::Write { offset_bytes, from, durability: commit.durability }
    }

    /// Executes operations concurrently. Returns the times of the first submission and of the last
    /// completion.
    fn all(
        &mut self,
        lane: &mut Lane,
        operations: Vec<Operation>,
        cancel: &Cancel,
    ) -> Result<Option<(Nanos, Nanos)>, LoadError> {
        lane.run_all(operations, &mut self.done, cancel)?;
        for completion in &self.done {
            if let Err(error) = &completion.result {
                return Err(LoadError::AllFailed { requests: 1, first: error.to_string() });
            }
        }
        let began = self.done.iter().map(|completion| completion.submitted_at).min();
        Ok(began.zip(self.done.iter().map(|completion| completion.completed_at).max()))
    }
}
