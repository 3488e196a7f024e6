//! Memory reused by successive scans. The system clears a page on its first use, which takes about
//! as long as a fast device takes to fill it: a fifth of a 10 MiB scan on a virtual disk.
//!
//! Arenas are kept, and scans take parts of them from the lowest address on. So a small scan reuses
//! memory of a large one and leaves it the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nandle_io::{Arena, ArenaError, Buffer, BufferMut};

use crate::Plan;
use crate::plan::WINDOWS;

/// Limit on free memory kept by all holders of this handle together.
#[derive(Debug, Clone)]
pub struct KeptMemory(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    bytes: AtomicUsize,
    bytes_max: usize,
}

impl KeptMemory {
    /// Limits the kept memory to `bytes_max`.
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Kept { bytes: AtomicUsize::new(0), bytes_max }))
    }

    /// Counts `bytes` if they fit the limit; otherwise returns false.
    fn take(&self, bytes: usize) -> bool {
        let with_these = |kept: usize| kept.checked_add(bytes).filter(|all| *all <= self.0.bytes_max);
        self.0.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_these).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        let before = self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "what is given back was taken");
    }
}

/// Memory of ended scans, for later ones.
#[derive(Debug)]
pub struct ScanMemory {
    /// Arenas in use or kept, in the order of allocation.
    arenas: Vec<Arena>,
    shared: KeptMemory,
    /// Its part of the shared count, as of the last trim.
    kept_bytes: usize,
}

impl ScanMemory {
    /// Keeps up to `kept_bytes_max` of free memory.
    pub fn keeping(kept_bytes_max: usize) -> Self {
        Self::sharing(KeptMemory::new(kept_bytes_max))
    }

    /// Keeps free memory up to the limit shared by `shared`.
    pub fn sharing(shared: KeptMemory) -> Self {
        Self { arenas: Vec::new(), shared, kept_bytes: 0 }
    }

    /// Takes memory for all windows that can be in memory at once, each as large as the plan's
    /// largest.
    pub(super) fn of_windows(&mut self, plan: &Plan) -> Result<Vec<BufferMut>, ArenaError> {
        let largest = plan.windows().iter().map(|window| window.memory_bytes).max().unwrap_or_default();
        let count = plan.windows().len().min(usize::try_from(WINDOWS).unwrap_or(usize::MAX));
        (0..count).map(|_| self.take(usize::try_from(largest).unwrap_or(usize::MAX))).collect()
    }

    /// Takes an unused buffer. Its memory is kept after its last user drops it.
    fn take(&mut self, bytes: usize) -> Result<BufferMut, ArenaError> {
        if let Some(buffer) = self.arenas.iter().find_map(|arena| arena.allocate(bytes).ok()) {
            return Ok(buffer);
        }
        // The kept arenas are too small: free them first.
        self.trim();
        let arena = Arena::new(bytes)?;
        let buffer = arena.allocate(bytes)?;
        self.arenas.push(arena);
        Ok(buffer)
    }

    /// Frees unused arenas beyond the limit; the latest are kept.
    pub fn trim(&mut self) {
        self.shared.give_back(std::mem::take(&mut self.kept_bytes));
        let Self { arenas, shared, kept_bytes } = self;
        arenas.reverse();
        arenas.retain(|arena| {
            let free_bytes = arena.free_bytes();
            let is_kept = shared.take(free_bytes);
            *kept_bytes += if is_kept { free_bytes } else { 0 };
            is_kept
        });
        arenas.reverse();
    }
}

impl Drop for ScanMemory {
    fn drop(&mut self) {
        self.shared.give_back(self.kept_bytes);
    }
}

/// Memory for successive windows: each uses all of it, once nothing of the previous one is left.
pub(super) struct WindowMemory(Option<Buffer>);

impl WindowMemory {
    pub(super) fn new(mut memory: BufferMut) -> Self {
        // An empty handle that keeps the memory alive.
        Self(Some(memory.split_to(0).freeze()))
    }

    /// Takes all of the memory if no window uses it.
    pub(super) fn take(&mut self) -> Option<BufferMut> {
        match self.0.take()?.reclaim() {
            Ok(mut memory) => {
                self.0 = Some(memory.split_to(0).freeze());
                Some(memory)
            }
            Err(used) => {
                self.0 = Some(used);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::buffer::GRAIN_BYTES;

    use super::*;

    const MIB: usize = 1 << 20;

    fn sizes(memory: &ScanMemory) -> Vec<usize> {
        memory.arenas.iter().map(Arena::bytes).collect()
    }

    #[test]
    fn memory_is_used_again_when_nothing_refers_to_it() {
        let mut memory = ScanMemory::keeping(64 * MIB);
        let first = memory.take(4 * MIB).unwrap();
        let second = memory.take(4 * MIB).unwrap();
        drop(first);
        let third = memory.take(4 * MIB).unwrap();
        assert_eq!(sizes(&memory), [4 * MIB; 2]);
        let fourth = memory.take(4 * MIB).unwrap();
        assert_eq!(sizes(&memory), [4 * MIB; 3]);
        drop((second, third, fourth));
        let part = memory.take(3 * MIB).unwrap();
        assert!(memory.take(4 * MIB).is_ok() && memory.arenas.len() == 3);
        drop(part);
    }

    #[test]
    fn a_small_scan_uses_a_part_of_large_memory_and_leaves_the_rest_to_others() {
        let mut memory = ScanMemory::keeping(64 * MIB);
        drop(memory.take(32 * MIB).unwrap());
        let mut small = memory.take(2 * MIB).unwrap();
        let large = memory.take(30 * MIB).unwrap();
        assert_eq!(sizes(&memory), [32 * MIB]);
        small.fill(1);
        drop((small, large));
        assert!(memory.take(32 * MIB).is_ok());
        assert_eq!(sizes(&memory), [32 * MIB]);
    }

    #[test]
    fn no_more_is_kept_than_was_said() {
        let mut memory = ScanMemory::keeping(8 * MIB);
        let large = memory.take(10 * MIB).unwrap();
        let small = [memory.take(4 * MIB).unwrap(), memory.take(6 * MIB).unwrap()];
        memory.trim();
        assert_eq!(memory.arenas.len(), 3, "all are in use");
        drop(small);
        memory.trim();
        assert_eq!(sizes(&memory), [10 * MIB, 6 * MIB]);
        drop(large);
        memory.trim();
        assert_eq!(sizes(&memory), [6 * MIB]);
    }

    #[test]
    fn those_who_share_keep_no_more_together() {
        let shared = KeptMemory::new(8 * MIB);
        let [mut one, mut other] = [(); 2].map(|()| ScanMemory::sharing(shared.clone()));
        for memory in [&mut one, &mut other] {
            drop(memory.take(6 * MIB).unwrap());
            memory.trim();
        }
        assert_eq!((one.arenas.len(), other.arenas.len()), (1, 0));
        drop(one);
        drop(other.take(6 * MIB).unwrap());
        other.trim();
        assert_eq!(other.arenas.len(), 1, "what has ended keeps nothing");
    }

    #[test]
    fn a_window_has_all_its_memory_and_the_next_one_after_it() {
        let mut memory = WindowMemory::new(ScanMemory::keeping(0).take(2 * GRAIN_BYTES).unwrap());
        let mut first = memory.take().unwrap();
        assert_eq!(first.len(), 2 * GRAIN_BYTES);
        assert!(memory.take().is_none());
        let extent = first.split_to(GRAIN_BYTES).freeze();
        drop(first);
        assert!(memory.take().is_none());
        drop(extent);
        assert_eq!(memory.take().unwrap().len(), 2 * GRAIN_BYTES);
    }
}
