//! Memory that one scan after the other uses. A page of memory that is used for the first time has to be cleared, which takes about as long as a fast
//! device takes to fill it: of a scan of 10 MiB on a virtual disk a fifth.

use nandle_io::{Arena, ArenaError};

/// Of what is kept, a scan takes nothing that is more than so many times as large as it needs.
const LARGER_MAX: usize = 2;

/// Memory of scans that have ended, for those that follow.
#[derive(Debug)]
pub struct ScanMemory {
    /// What scans have and what is kept, in the order in which it was first taken.
    arenas: Vec<Arena>,
    kept_bytes_max: usize,
}

impl ScanMemory {
    /// Memory of which at most so many bytes are kept while no scan has them.
    pub fn keeping(kept_bytes_max: usize) -> Self {
        Self { arenas: Vec::new(), kept_bytes_max }
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
        let (mut kept_bytes, most_bytes) = (0, self.kept_bytes_max);
        self.arenas.reverse();
        self.arenas.retain(|arena| {
            let free_bytes = if arena.is_shared() { 0 } else { arena.bytes() };
            let is_kept = kept_bytes + free_bytes <= most_bytes;
            kept_bytes += if is_kept { free_bytes } else { 0 };
            is_kept
        });
        self.arenas.reverse();
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
}
