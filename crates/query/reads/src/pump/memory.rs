//! Memory that one scan after the other uses. A page of memory that is used for the first time has to be cleared, which takes about as long as a fast
//! device takes to fill it: of a scan of 10 MiB on a virtual disk a fifth.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nandle_io::{Arena, ArenaError};

/// Of what is kept, a scan takes nothing that is more than so many times as large as it needs.
const LARGER_MAX: usize = 2;

/// How much memory is kept while no scan has it, by all together that share this.
#[derive(Debug, Clone)]
pub struct KeptMemory(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    bytes: AtomicUsize,
    bytes_max: usize,
}

impl KeptMemory {
    /// So many bytes at most.
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Kept { bytes: AtomicUsize::new(0), bytes_max }))
    }

    /// Whether there was room for so many bytes; they count from then on.
    fn take(&self, bytes: usize) -> bool {
        let with_these = |kept: usize| kept.checked_add(bytes).filter(|all| *all <= self.0.bytes_max);
        self.0.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_these).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        let before = self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "what is given back was taken");
    }
}

/// Memory of scans that have ended, for those that follow.
#[derive(Debug)]
pub struct ScanMemory {
    /// What scans have and what is kept, in the order in which it was first taken.
    arenas: Vec<Arena>,
    shared: KeptMemory,
    /// What this keeps of what is shared, as of its last trim.
    kept_bytes: usize,
}

impl ScanMemory {
    /// Memory of which at most so many bytes are kept while no scan has them.
    pub fn keeping(kept_bytes_max: usize) -> Self {
        Self::sharing(KeptMemory::new(kept_bytes_max))
    }

    /// Memory that is kept as far as others leave room for it.
    pub fn sharing(shared: KeptMemory) -> Self {
        Self { arenas: Vec::new(), shared, kept_bytes: 0 }
    }

    /// An arena of at least `bytes` that no other scan has. It is kept when its last user has dropped it.
    pub(super) fn take(&mut self, bytes: usize) -> Result<Arena, ArenaError> {
        self.trim();
        let fits = |arena: &&Arena| {
            (bytes..=bytes.saturating_mul(LARGER_MAX)).contains(&arena.bytes()) && !arena.is_shared()
        };
        if let Some(arena) = self.arenas.iter().filter(fits).min_by_key(|arena| arena.bytes()) {
            return Ok(arena.clone());
        }
        let arena = Arena::new(bytes)?;
        self.arenas.push(arena.clone());
        Ok(arena)
    }

    /// Gives back what no scan has and is more than is kept; what was taken last stays.
    pub fn trim(&mut self) {
        self.shared.give_back(std::mem::take(&mut self.kept_bytes));
        let Self { arenas, shared, kept_bytes } = self;
        arenas.reverse();
        arenas.retain(|arena| {
            if arena.is_shared() {
                return true;
            }
            let is_kept = shared.take(arena.bytes());
            *kept_bytes += if is_kept { arena.bytes() } else { 0 };
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn memory_is_used_again_when_nothing_refers_to_it() {
        let mut memory = ScanMemory::keeping(64 * MIB);
        let first = memory.take(4 * MIB).unwrap();
        let buffer = first.allocate(4096).unwrap();
        let second = memory.take(4 * MIB).unwrap();
        assert!(!second.is_same(&first));
        drop((first, second));
        let third = memory.take(4 * MIB).unwrap();
        assert_eq!(memory.arenas.len(), 2);
        let fourth = memory.take(4 * MIB).unwrap();
        assert!(!fourth.is_same(&third) && memory.arenas.len() == 3, "a buffer is left of the first");
        drop((buffer, third, fourth));
        assert!(memory.take(3 * MIB).is_ok() && memory.arenas.len() == 3);
    }

    #[test]
    fn a_small_scan_leaves_large_memory_to_others() {
        let mut memory = ScanMemory::keeping(64 * MIB);
        drop(memory.take(32 * MIB).unwrap());
        assert_eq!(memory.take(2 * MIB).unwrap().bytes(), 2 * MIB);
        assert_eq!(memory.take(20 * MIB).unwrap().bytes(), 32 * MIB);
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
        let sizes = |memory: &ScanMemory| memory.arenas.iter().map(Arena::bytes).collect::<Vec<_>>();
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
}
