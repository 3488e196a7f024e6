use super::{CountError, Counter, KeySpace, MemoryCounter};

/// Division of the memory among counting threads and runs on temporary space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Number of threads that fit in memory.
    pub(crate) threads: usize,
    pub(crate) thread_bytes: usize,
    /// Zero for arrays, which need no runs.
    pub(crate) runs_bytes: usize,
}

impl Shares {
    /// Divides the memory among at most `threads` threads.
    pub(crate) fn of(
        space: &KeySpace,
        memory_bytes: usize,
        threads: usize,
        has_runs: bool,
    ) -> Result<Self, CountError> {
        if has_runs && memory_bytes < Counter::MEMORY_BYTES_MIN {
            return Err(CountError::Memory {
                purpose: "counting whatever comes",
                needed_bytes: Counter::MEMORY_BYTES_MIN as u64,
                memory_bytes: memory_bytes as u64,
            });
        }
        let threads = threads.min(memory_bytes / MemoryCounter::MEMORY_BYTES_MIN).max(1);
        if MemoryCounter::is_dense(space, memory_bytes) {
            // An array for each thread, or a single one.
            let threads = if MemoryCounter::is_dense(space, memory_bytes / threads) { threads } else { 1 };
            return Ok(Self { threads, thread_bytes: memory_bytes / threads, runs_bytes: 0 });
        }
        let runs_bytes = if has_runs { memory_bytes / 4 } else { 0 };
        let counting_bytes = memory_bytes - runs_bytes;
        let threads = threads.min(counting_bytes / MemoryCounter::MEMORY_BYTES_MIN).max(1);
        Ok(Self { threads, thread_bytes: counting_bytes / threads, runs_bytes })
    }
}
