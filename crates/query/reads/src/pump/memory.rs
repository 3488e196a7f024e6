//! Memory that one scan after the other uses. A page of memory that is used for the first time has to be cleared, which takes about as long as a fast
//! device takes to fill it: of a scan of 10 MiB on a virtual disk a third.

use nandle_io::{Arena, ArenaError};

/// Memory beyond this isn't kept for the next scan.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Memory of scans that have ended, for those that follow: at most 64 MiB of it are kept.
#[derive(Debug, Default)]
pub struct ScanMemory {
    /// All that scans have and all that is kept, in the order in which it was first taken.
    arenas: Vec<Arena>,
}

impl ScanMemory {
    /// An arena of at least `bytes` that nobody else has. It is kept when its last user has dropped it.
    pub(super) fn take(&mut self, bytes: usize) -> Result<Arena, ArenaError> {
        let fits = |arena: &&Arena| arena.bytes() >= bytes && !arena.is_shared();
        if let Some(arena) = self.arenas.iter().filter(fits).min_by_key(|arena| arena.bytes()) {
            return Ok(arena.clone());
        }
        // Whatever is kept is too small, and would be memory beside that of this scan.
        self.arenas.retain(Arena::is_shared);
        let arena = Arena::new(bytes)?;
        self.arenas.push(arena.clone());
        Ok(arena)
    }

    /// Gives back what no scan has and is more than is kept.
    pub fn trim(&mut self) {
        let mut kept_bytes = 0;
        self.arenas.retain(|arena| {
            let free_bytes = if arena.is_shared() { 0 } else { arena.bytes() };
            let is_kept = kept_bytes + free_bytes <= KEPT_BYTES_MAX;
            kept_bytes += if is_kept { free_bytes } else { 0 };
            is_kept
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1 << 20;

    #[test]
    fn memory_is_used_again_when_nothing_refers_to_it() {
        let mut memory = ScanMemory::default();
        let first = memory.take(BYTES).unwrap();
        let buffer = first.allocate(4096).unwrap();
        let second = memory.take(BYTES).unwrap();
        assert!(!second.is_same(&first));
        let kept = first.clone();
        drop(first);
        drop(kept);
        assert!(memory.arenas.iter().all(Arena::is_shared), "a buffer is left of the first");
        drop((buffer, second));
        let (third, fourth) = (memory.take(BYTES / 2).unwrap(), memory.take(BYTES).unwrap());
        assert!(!third.is_same(&fourth));
        assert_eq!(memory.arenas.len(), 2);
    }

    #[test]
    fn memory_that_is_too_small_or_too_much_goes() {
        let mut memory = ScanMemory::default();
        drop(memory.take(BYTES).unwrap());
        memory.trim();
        assert_eq!(memory.arenas.len(), 1);
        let large = memory.take(KEPT_BYTES_MAX + 1).unwrap();
        assert_eq!(memory.arenas.len(), 1, "the small one has gone");
        memory.trim();
        assert_eq!(memory.arenas.len(), 1, "the large one is in use");
        drop(large);
        memory.trim();
        assert!(memory.arenas.is_empty());
    }
}
