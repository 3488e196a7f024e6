use nandle_io::{Arena, ArenaError, BufferMut};

/// Memory of an arena, or allocated separately if no part of the arena is long enough. A caller
/// waiting for the arena could wait forever, as the holders may depend on this call.
pub(crate) fn memory_of(arena: &Arena, bytes: usize) -> Result<BufferMut, ArenaError> {
    match arena.allocate(bytes) {
        Err(ArenaError::Full { .. }) => Arena::new(bytes)?.allocate(bytes),
        allocated => allocated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_that_is_full_is_no_reason_to_fail() {
        let arena = Arena::new(4096).unwrap();
        let held: Vec<_> = (0..3).map(|_| memory_of(&arena, 4096).unwrap()).collect();
        assert!(arena.allocate(4096).is_err());
        drop(held);
        assert!(arena.allocate(4096).is_ok());
    }
}
