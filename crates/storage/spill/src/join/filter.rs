//! A Bloom filter that keeps the bits of a key in one word (Putze, Sanders, Singler, *Cache-, Hash-
//! and Space-Efficient Bloom Filters*, 2007). A negative answer is certain. A full filter rejects
//! nothing, and costs one lookup.

use bytemuck::cast_slice_mut;

use super::hashing::filter_bits;

/// Length of the filter for an area, in bytes.
pub(super) fn bytes_in(area_bytes: usize) -> usize {
    const PART: usize = 16;
    area_bytes / PART / size_of::<u64>() * size_of::<u64>()
}

pub(super) struct Filter<'a> {
    words: &'a mut [u64],
}

impl<'a> Filter<'a> {
    /// Creates a filter in `bytes`, which must be aligned to a word.
    pub(super) fn new(bytes: &'a mut [u8]) -> Self {
        Self { words: cast_slice_mut(bytes) }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    pub(super) fn insert(&mut self, hash: u64) {
        let (word, bits) = filter_bits(hash, self.words.len());
        if let Some(word) = self.words.get_mut(word) {
            *word |= bits;
        }
    }

    pub(super) fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = filter_bits(hash, self.words.len());
        self.words.get(word).is_none_or(|word| word & bits == bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::hashing::KeyHash;

    #[test]
    fn inserted_keys_are_present_and_few_others() {
        let mut words = [0_u64; 1024];
        let mut filter = Filter::new(bytemuck::cast_slice_mut(&mut words));
        let hash = KeyHash::of_level(0, 3);
        let hash_of = |key: u32| hash.of(&key.to_be_bytes());
        (0..8192).for_each(|key| filter.insert(hash_of(key)));
        assert!((0..8192).all(|key| filter.may_have(hash_of(key))));
        let wrong = (8192..108_192).filter(|key| filter.may_have(hash_of(*key))).count();
        assert!(
            (1_000..8_000).contains(&wrong),
            "{wrong} of 100,000 absent keys are reported present, at one byte per key"
        );
    }
}
