//! Handles to an arena's bytes: unique and writable, or shared and read-only.
#![allow(unsafe_code, reason = "makes slices of mapped memory; each block names its invariant")]

use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;

use super::arena::{Extent, Region};

/// Unique handle to some bytes of an arena. Invariant: no other handle's range overlaps this one's.
pub struct BufferMut {
    extent: Arc<Extent>,
    start: usize,
    length: usize,
}

/// Shared, read-only handle to some bytes of an arena; a clone is a cheap handle to the same bytes.
/// Invariant: no [`BufferMut`]'s range overlaps this one's.
#[derive(Clone)]
pub struct Buffer {
    extent: Arc<Extent>,
    start: usize,
    length: usize,
}

impl BufferMut {
    /// Handle to the first `length` bytes of an extent without another handle.
    pub(super) fn whole(extent: Arc<Extent>, length: usize) -> Self {
        Self { extent, start: 0, length }
    }

    /// Length in bytes. Unlike the slice's own, it can be read while the kernel fills the memory.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Converts to a shared, read-only handle.
    #[must_use]
    pub fn freeze(self) -> Buffer {
        Buffer { extent: self.extent, start: self.start, length: self.length }
    }

    /// Splits off the first `at` bytes, at most all.
    #[must_use]
    pub fn split_to(&mut self, at: usize) -> Self {
        let at = at.min(self.length);
        let first = Self { extent: Arc::clone(&self.extent), start: self.start, length: at };
        self.start += at;
        self.length -= at;
        first
    }

    /// Joins two handles that `split_to` separated.
    ///
    /// # Errors
    /// Returns both handles if `next` doesn't begin at the end of `self`.
    pub fn join(mut self, next: Self) -> Result<Self, (Self, Self)> {
        if Arc::ptr_eq(&self.extent, &next.extent) && self.start + self.length == next.start {
            self.length += next.length;
            Ok(self)
        } else {
            Err((self, next))
        }
    }

    pub(crate) fn address(&self) -> NonNull<u8> {
        self.extent.address(self.start)
    }

    pub(crate) fn region(&self) -> &Arc<Region> {
        self.extent.region()
    }
}

impl Buffer {
    /// Length in bytes. Unlike the slice's own, it can be read while the kernel fills the memory.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Handle to the bytes at `range`, which is truncated to the buffer.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.length);
        let start = range.start.min(end);
        Self { extent: Arc::clone(&self.extent), start: self.start + start, length: end - start }
    }

    /// Joins two adjacent handles to parts of one buffer.
    ///
    /// # Errors
    /// Returns both handles if `next` doesn't begin at the end of `self`.
    pub fn join(mut self, next: Self) -> Result<Self, (Self, Self)> {
        if Arc::ptr_eq(&self.extent, &next.extent) && self.start + self.length == next.start {
            self.length += next.length;
            Ok(self)
        } else {
            Err((self, next))
        }
    }

    /// Converts to a unique handle, if no other handle to the memory exists.
    ///
    /// # Errors
    /// Returns the buffer if other handles exist.
    pub fn thaw(mut self) -> Result<BufferMut, Self> {
        if Arc::get_mut(&mut self.extent).is_some() {
            Ok(BufferMut { extent: self.extent, start: self.start, length: self.length })
        } else {
            Err(self)
        }
    }

    /// Converts to a unique handle to the whole extent that this was split from, if no other handle
    /// to any part of it exists.
    ///
    /// # Errors
    /// Returns the buffer if other handles exist.
    pub fn reclaim(mut self) -> Result<BufferMut, Self> {
        match Arc::get_mut(&mut self.extent) {
            Some(extent) => {
                let length = extent.bytes();
                Ok(BufferMut::whole(self.extent, length))
            }
            None => Err(self),
        }
    }

    pub(crate) fn address(&self) -> NonNull<u8> {
        self.extent.address(self.start)
    }

    pub(crate) fn region(&self) -> &Arc<Region> {
        self.extent.region()
    }
}

impl Deref for BufferMut {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range is in the extent (`split_to` and `join` keep it there). Its memory is
        // mapped, initialised (zero at first) and alive as long as `extent`, and nothing else
        // accesses it.
        unsafe { std::slice::from_raw_parts(self.address().as_ptr(), self.length) }
    }
}

impl DerefMut for BufferMut {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the handle is unique and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.address().as_ptr(), self.length) }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as for `BufferMut`; every handle to these bytes is read-only.
        unsafe { std::slice::from_raw_parts(self.address().as_ptr(), self.length) }
    }
}

impl fmt::Debug for BufferMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferMut({} bytes)", self.length)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use crate::buffer::{Arena, ArenaError, GRAIN_BYTES};

    #[test]
    fn memory_comes_back_when_the_last_handle_goes() {
        let arena = Arena::new(2 * GRAIN_BYTES).unwrap();
        let first = arena.allocate(GRAIN_BYTES).unwrap().freeze();
        let slice = first.slice(10..20);
        let second = arena.allocate(1).unwrap();
        assert!(matches!(arena.allocate(1), Err(ArenaError::Full { longest_bytes: 0, .. })));
        drop(first);
        assert!(arena.allocate(1).is_err(), "the slice still holds it");
        drop(slice);
        assert!(arena.allocate(GRAIN_BYTES).is_ok());
        drop(second);
        assert!(arena.allocate(2 * GRAIN_BYTES).is_ok());
    }

    #[test]
    fn more_than_there_is_at_all() {
        let arena = Arena::new(GRAIN_BYTES).unwrap();
        for bytes in [usize::MAX, usize::MAX - GRAIN_BYTES + 1, usize::MAX - GRAIN_BYTES] {
            assert!(matches!(arena.allocate(bytes), Err(ArenaError::Full { .. })));
            assert!(matches!(Arena::new(bytes), Err(ArenaError::Map { .. })));
        }
    }

    #[test]
    fn parts_of_a_split_are_apart_and_join_again() {
        let arena = Arena::new(GRAIN_BYTES).unwrap();
        let mut rest = arena.allocate(100).unwrap();
        let mut first = rest.split_to(40);
        first.fill(1);
        rest.fill(2);
        let (rest, first) = rest.join(first).unwrap_err();
        let whole = first.join(rest).unwrap();
        assert_eq!(whole.len(), 100);
        assert!(whole[..40].iter().all(|byte| *byte == 1) && whole[40..].iter().all(|byte| *byte == 2));
    }

    #[test]
    fn shared_neighbours_join() {
        let arena = Arena::new(2 * GRAIN_BYTES).unwrap();
        let mut rest = arena.allocate(100).unwrap();
        rest.iter_mut().zip(0..).for_each(|(byte, number)| *byte = number);
        let first = rest.split_to(40).freeze();
        let rest = rest.freeze();
        let (rest, first) = rest.join(first).unwrap_err();
        let middle = first.slice(30..40).join(rest.slice(0..10)).unwrap();
        assert_eq!(middle.iter().copied().collect::<Vec<u8>>(), (30..50).collect::<Vec<u8>>());
        let other = arena.allocate(100).unwrap().freeze();
        assert!(middle.join(other).is_err(), "neighbours in the arena, but not of one buffer");
    }

    #[test]
    fn an_arena_is_unused_when_the_last_handle_is_gone() {
        let arena = Arena::new(2 * GRAIN_BYTES).unwrap();
        assert!(arena.is_unused());
        let shared = arena.allocate(100).unwrap().freeze();
        let slice = shared.slice(0..1);
        drop(shared);
        assert!(!arena.is_unused());
        drop(slice);
        assert!(arena.is_unused());
    }

    #[test]
    fn only_a_sole_handle_thaws() {
        let arena = Arena::new(GRAIN_BYTES).unwrap();
        let shared = arena.allocate(100).unwrap().freeze();
        let slice = shared.slice(0..10);
        let shared = shared.thaw().unwrap_err();
        drop(slice);
        assert_eq!(shared.thaw().unwrap().len(), 100);
    }

    #[test]
    fn what_was_split_is_whole_again_when_one_part_is_left() {
        let arena = Arena::new(4 * GRAIN_BYTES).unwrap();
        let mut rest = arena.allocate(2 * GRAIN_BYTES - 100).unwrap();
        let none = rest.split_to(0).freeze();
        let first = rest.split_to(GRAIN_BYTES).freeze();
        let none = none.reclaim().unwrap_err();
        drop(rest);
        let none = none.reclaim().unwrap_err();
        drop(first);
        let mut whole = none.reclaim().unwrap();
        // Whole grains, as the arena gave them.
        assert_eq!(whole.len(), 2 * GRAIN_BYTES);
        whole.fill(1);
        drop(whole);
        assert!(arena.is_unused());
    }

    #[test]
    fn ranges_are_cut_to_what_is_there() {
        let arena = Arena::new(GRAIN_BYTES).unwrap();
        let buffer = arena.allocate(100).unwrap().freeze();
        assert_eq!(buffer.slice(90..500).len(), 10);
        assert_eq!(buffer.slice(200..300).len(), 0);
    }
}
