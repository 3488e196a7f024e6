//! A Bloom filter of one word by key: what it doesn't have was never inserted (Putze, Sanders, Singler, *Cache-, Hash- and
//! Space-Efficient Bloom Filters*, 2007). When it is full it tells nothing any more, and costs a look.

use bytemuck::cast_slice_mut;

use super::hashing::filter_bits;

/// What a filter takes of an area.
pub(super) fn bytes_in(area_bytes: usize) -> usize {
    const PART: usize = 16;
    area_bytes / PART / size_of::<u64>() * size_of::<u64>()
}

pub(super) struct Filter<'a> {
    words: &'a mut [u64],
}

impl<'a> Filter<'a> {
    /// In bytes that begin at a multiple of a word.
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
    fn it_has_all_that_was_inserted_and_little_else() {
        let mut words = [0_u64; 1024];
        let mut filter = Filter::new(bytemuck::cast_slice_mut(&mut words));
        let hash = KeyHash::of_level(0, 3);
        let hash_of = |key: u32| hash.of(&key.to_be_bytes());
        (0..8192).for_each(|key| filter.insert(hash_of(key)));
        assert!((0..8192).all(|key| filter.may_have(hash_of(key))));
        let wrong = (8192..108_192).filter(|key| filter.may_have(hash_of(*key))).count();
        assert!(
            (1_000..8_000).contains(&wrong),
            "{wrong} of 100,000 are taken for others with a byte for each"
        );
    }
}
