//! Counts and memory of reading threads, separate to avoid contention.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nandle_io::BufferMut;

use crate::Stats;

const LANES: usize = 16;
/// Maximum buffers kept by a lane; additional concurrent readers allocate their own.
const KEPT_MAX: usize = 4;

/// Lanes for threads. Few threads share a lane.
pub(super) struct Lanes([Lane; LANES]);

/// Counts and memory of reads, in their own cache line.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Lane {
    device_reads: AtomicU64,
    device_read_bytes: AtomicU64,
    pages_read: AtomicU64,
    memory: Mutex<Vec<BufferMut>>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Lane::default()))
    }
}

impl Lanes {
    /// Lane of the calling thread.
    pub(super) fn of_this_thread(&self) -> &Lane {
        let lane = self.0.get(number_of_this_thread() % LANES);
        lane.unwrap_or_else(|| unreachable!("as many lanes as there can be remainders"))
    }

    /// Adds the counts of all lanes.
    pub(super) fn count(&self, stats: &mut Stats) {
        for lane in &self.0 {
            stats.device_reads += lane.device_reads.load(Ordering::Relaxed);
            stats.device_read_bytes += lane.device_read_bytes.load(Ordering::Relaxed);
            stats.pages_read += lane.pages_read.load(Ordering::Relaxed);
        }
    }
}

/// Number of the calling thread, in order of first reads.
fn number_of_this_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    // Thread-local storage is gone in a thread that reads while it ends. Any lane will do.
    NUMBER.try_with(|number| *number).unwrap_or_default()
}

impl Lane {
    pub(super) fn count_read(&self, bytes: u64) {
        self.device_reads.fetch_add(1, Ordering::Relaxed);
        self.device_read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn count_page(&self) {
        self.pages_read.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a kept buffer; all have the same length.
    pub(super) fn take_memory(&self) -> Option<BufferMut> {
        self.memory().pop()
    }

    /// Keeps a buffer for the next read, up to the maximum.
    pub(super) fn keep_memory(&self, memory: BufferMut) {
        let mut kept = self.memory();
        if kept.len() < KEPT_MAX {
            kept.push(memory);
        }
    }

    fn memory(&self) -> MutexGuard<'_, Vec<BufferMut>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Arena;

    use super::*;

    #[test]
    fn a_lane_keeps_little_memory_and_lends_it_again() {
        let lane = Lane::default();
        assert!(lane.take_memory().is_none());
        let arena = Arena::new(8 * 4096).unwrap();
        for _ in 0..8 {
            lane.keep_memory(arena.allocate(4096).unwrap());
        }
        assert_eq!(arena.free_bytes(), 4 * 4096);
        assert!((0..4).all(|_| lane.take_memory().is_some()) && lane.take_memory().is_none());
    }

    #[test]
    fn the_counts_of_all_lanes_are_one_sum() {
        let lanes = Lanes::default();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    lanes.of_this_thread().count_read(8192);
                    lanes.of_this_thread().count_page();
                });
            }
        });
        let mut stats = Stats::default();
        lanes.count(&mut stats);
        assert_eq!((stats.device_reads, stats.device_read_bytes, stats.pages_read), (20, 20 * 8192, 20));
    }
}
