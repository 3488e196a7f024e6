use nandle_io::Cause;
use xxhash_rust::xxh3::xxh3_128;

use super::dice::Dice;
use super::page::Page;
use super::trie::Trie;

/// Blocks of a device, copy-on-write. A clone is a cheap snapshot that shares all blocks. A block
/// that was never written reads as zeros.
#[derive(Debug, Clone)]
pub struct Contents {
    pages: Trie<Page>,
    block_bytes: usize,
    capacity_bytes: u64,
    written_blocks: u64,
    zeros_hash: u128,
    /// Sum of the blocks' terms, so that a change costs one block.
    hash: u128,
}

impl Contents {
    /// Contents of zeros. All effects have the granularity `logical_block_bytes` (at least 1);
    /// capacity is rounded down to a multiple of it.
    pub fn new(capacity_bytes: u64, logical_block_bytes: u32) -> Self {
        let block_bytes = logical_block_bytes.max(1);
        let blocks = capacity_bytes / u64::from(block_bytes);
        Self {
            pages: Trie::for_keys(blocks),
            block_bytes: block_bytes as usize,
            capacity_bytes: blocks * u64::from(block_bytes),
            written_blocks: 0,
            zeros_hash: xxh3_128(&vec![0; block_bytes as usize]),
            hash: 0,
        }
    }

    /// Capacity in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Size of a block in bytes.
    pub fn logical_block_bytes(&self) -> u64 {
        self.block_bytes as u64
    }

    /// Blocks that were written and not discarded since.
    pub fn written_blocks(&self) -> u64 {
        self.written_blocks
    }

    /// Hash of the contents, equal in every process and on every machine. Different contents have
    /// the same hash with a chance of 2⁻¹²⁸. It is the sum, modulo 2¹²⁸, of a hash of each non-zero
    /// block and its number (Bellare, Micciancio: *A new paradigm for collision-free hashing:
    /// incrementality at reduced cost*, EUROCRYPT 1997). XXH3 is no defence against forgery.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Copies the bytes from any `offset_bytes` on, without faults.
    ///
    /// # Errors
    /// [`Cause::BeyondEnd`]: the range ends beyond the device.
    pub fn read_into(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), Cause> {
        let end_bytes = offset_bytes.saturating_add(into.len() as u64);
        if end_bytes > self.capacity_bytes {
            return Err(Cause::BeyondEnd { end_bytes, capacity_bytes: self.capacity_bytes });
        }
        let mut at = offset_bytes;
        let mut rest = into;
        while !rest.is_empty() {
            #[expect(clippy::cast_possible_truncation, reason = "below a number of that type")]
            let skip = (at % self.logical_block_bytes()) as usize;
            let (part, behind) = rest.split_at_mut(rest.len().min(self.block_bytes - skip));
            match self.page(at / self.logical_block_bytes()) {
                Some(page) => page.copy_part(skip, part),
                None => part.fill(0),
            }
            at += part.len() as u64;
            rest = behind;
        }
        debug_assert!(at == end_bytes, "read up to {at} instead of {end_bytes}");
        Ok(())
    }

    /// Flips one bit of a block, chosen by the seed: damage at rest, for tests of detection. Does
    /// nothing beyond the end.
    pub fn damage(&mut self, block: u64, seed: u64) {
        if block < self.capacity_bytes / self.logical_block_bytes() {
            let zeros = || Page::torn(None, None, 0, self.block_bytes);
            let page = self.page(block).cloned().unwrap_or_else(zeros);
            self.set(block, Some(page.damaged(Dice::new(seed).of(block))));
        }
    }

    pub(super) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Contents of a block; `None` is zeros.
    pub(super) fn page(&self, block: u64) -> Option<&Page> {
        self.pages.get(block)
    }

    pub(super) fn set(&mut self, block: u64, page: Option<Page>) {
        debug_assert!(
            block < self.capacity_bytes / self.logical_block_bytes(),
            "block {block} is beyond the end"
        );
        debug_assert!(
            page.as_ref().is_none_or(|page| page.bytes().len() == self.block_bytes),
            "{page:?} is no block of {} bytes",
            self.block_bytes
        );
        let added = page.as_ref().map_or(0, |page| self.term(block, page));
        self.written_blocks += u64::from(page.is_some());
        let before = self.pages.set(block, page);
        self.written_blocks -= u64::from(before.is_some());
        let removed = before.map_or(0, |page| self.term(block, &page));
        debug_assert!(
            self.written_blocks <= self.capacity_bytes / self.logical_block_bytes(),
            "{} blocks are written",
            self.written_blocks
        );
        self.hash = self.hash.wrapping_sub(removed).wrapping_add(added);
    }

    /// Written blocks from `first` to `end` − 1.
    pub(super) fn written_in(&self, first: u64, end: u64) -> Vec<u64> {
        debug_assert!(first <= end, "{first}..{end} is no range");
        self.pages.keys(first..end)
    }

    /// Term of a block in the hash; zeros add nothing, whether written or not.
    fn term(&self, block: u64, page: &Page) -> u128 {
        if page.hash() == self.zeros_hash {
            return 0;
        }
        let mut named = [0; 24];
        let (hash, number) = named.split_at_mut(16);
        hash.copy_from_slice(&page.hash().to_le_bytes());
        number.copy_from_slice(&block.to_le_bytes());
        xxh3_128(&named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_knows_what_is_where_and_nothing_else() {
        let page = |n| Some(Page::garbage(Dice::new(n), 16));
        let mut one = Contents::new(1600, 16);
        let empty = one.hash();
        one.set(3, page(1));
        one.set(4, page(2));
        let mut other = Contents::new(1600, 16);
        other.set(4, page(1));
        other.set(3, page(2));
        assert_ne!(one.hash(), other.hash());
        other.set(3, page(1));
        other.set(4, page(2));
        assert_eq!(one.hash(), other.hash());
        let snapshot = one.clone();
        one.set(3, None);
        one.set(4, Some(Page::torn(None, None, 8, 16)));
        assert_eq!((one.hash(), one.written_blocks()), (empty, 1));
        assert_eq!((snapshot.hash(), snapshot.written_blocks()), (other.hash(), 2));
    }

    #[test]
    fn damage_is_one_bit_of_one_block() {
        for seed in 0..20 {
            let mut contents = Contents::new(64, 16);
            contents.damage(4, seed);
            assert_eq!(contents.hash(), 0, "beyond the end");
            contents.damage(2, seed);
            let mut all = [0; 64];
            contents.read_into(0, &mut all).unwrap();
            let bits = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
            assert_eq!((bits(&all), bits(&all[32..48])), (1, 1));
        }
    }

    #[test]
    fn any_range_reads() {
        let mut contents = Contents::new(64, 16);
        let page = Page::garbage(Dice::new(1), 16);
        contents.set(1, Some(page.clone()));
        let mut all = [1; 64];
        contents.read_into(0, &mut all).unwrap();
        assert_eq!(&all[16..32], page.bytes());
        assert!(all[..16].iter().chain(&all[32..]).all(|byte| *byte == 0));
        let mut part = [0; 21];
        contents.read_into(13, &mut part).unwrap();
        assert_eq!(part, all[13..34]);
        let beyond = contents.read_into(60, &mut part);
        assert_eq!(beyond, Err(Cause::BeyondEnd { end_bytes: 81, capacity_bytes: 64 }));
    }
}
