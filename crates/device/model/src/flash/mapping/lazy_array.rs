//! Large array of numbers whose chunks are allocated when they are first written to.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Entries of a chunk: 256 KiB.
const CHUNK: usize = 1 << 16;

/// Absent number.
pub(crate) const NONE: u32 = u32::MAX;

/// Array of `u32`. An entry *i* that was never stored is *i* below the identity bound, else
/// [`NONE`]. So a drive that was filled in order needs no memory for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LazyArray {
    identity_below: u32,
    chunks: Vec<Option<Box<[u32]>>>,
}

impl LazyArray {
    pub(crate) fn new(length: usize) -> Self {
        Self { identity_below: 0, chunks: vec![None; length.div_ceil(CHUNK)] }
    }

    /// Makes entries below `bound` that were never stored their own index.
    pub(crate) fn set_identity_below(&mut self, bound: u32) {
        self.identity_below = bound;
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> u32 {
        let position = index as usize;
        match self.chunks.get(position / CHUNK) {
            Some(Some(chunk)) => chunk.get(position % CHUNK).copied().unwrap_or(NONE),
            _ => self.untouched(index),
        }
    }

    /// Stores a number and returns the previous one.
    #[inline]
    pub(crate) fn replace(&mut self, index: u32, value: u32) -> u32 {
        let position = index as usize;
        if let Some(None) = self.chunks.get(position / CHUNK) {
            self.materialise(position / CHUNK);
        }
        let chunk = self.chunks.get_mut(position / CHUNK).and_then(Option::as_mut);
        let Some(entry) = chunk.and_then(|chunk| chunk.get_mut(position % CHUNK)) else { return NONE };
        std::mem::replace(entry, value)
    }

    /// End of the chunk of `index`, if every entry in the chunk is [`NONE`].
    pub(crate) fn end_of_empty_part(&self, index: u32) -> Option<u32> {
        let part = index as usize / CHUNK;
        let empty = matches!(self.chunks.get(part), Some(None))
            && (part * CHUNK) as u64 >= u64::from(self.identity_below);
        empty.then(|| u32::try_from((part + 1) * CHUNK).unwrap_or(NONE))
    }

    /// Calls `found` with index and value of each entry of the allocated chunks, except [`NONE`].
    pub(crate) fn for_each_stored(&self, mut found: impl FnMut(u32, u32)) {
        for (part, chunk) in self.chunks.iter().enumerate() {
            let entries = chunk.iter().flat_map(|chunk| chunk.iter());
            for (index, &value) in (Self::first_of(part)..).zip(entries) {
                if value != NONE {
                    found(index, value);
                }
            }
        }
    }

    /// Indices in a range whose chunks aren't allocated and whose values are their own index.
    pub(crate) fn untouched_within(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let end = range.end.min(self.identity_below);
        let untouched = |index: &u32| matches!(self.chunks.get(*index as usize / CHUNK), Some(None));
        (range.start.min(end)..end).filter(untouched)
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.identity_below = 0;
        self.chunks.fill(None);
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let present = self.chunks.iter().flatten().count();
        present * CHUNK * size_of::<u32>() + self.chunks.len() * size_of::<Option<Box<[u32]>>>()
    }

    #[cold]
    fn materialise(&mut self, chunk: usize) {
        let first = chunk * CHUNK;
        let entries =
            (first..first + CHUNK).map(|index| self.untouched(u32::try_from(index).unwrap_or(NONE)));
        let entries = entries.collect();
        if let Some(slot) = self.chunks.get_mut(chunk) {
            *slot = Some(entries);
        }
    }

    fn first_of(part: usize) -> u32 {
        u32::try_from(part * CHUNK).unwrap_or(NONE)
    }

    fn untouched(&self, index: u32) -> u32 {
        if index < self.identity_below { index } else { NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::{LazyArray, NONE};

    #[test]
    fn an_entry_is_itself_below_the_bound_until_something_is_stored() {
        let mut array = LazyArray::new(200_000);
        array.set_identity_below(150_000);
        assert_eq!((array.get(149_999), array.get(150_000)), (149_999, NONE));
        assert_eq!(array.replace(149_999, 7), 149_999);
        assert_eq!((array.get(149_998), array.get(149_999), array.get(150_001)), (149_998, 7, NONE));
    }

    #[test]
    fn memory_is_taken_part_by_part() {
        let mut array = LazyArray::new(1 << 30);
        let empty_bytes = array.bytes();
        array.replace(5, 1);
        assert_eq!(array.bytes() - empty_bytes, 1 << 18);
    }
}
