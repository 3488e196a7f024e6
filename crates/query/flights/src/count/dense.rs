//! Counting in an array with a cell per key.

use super::codes::is_repeated;
use super::table::Pair;

/// Count of each key.
pub(super) struct Dense {
    /// Counts modulo 2³², to halve the array.
    counts: Vec<u32>,
    cells: usize,
    /// A key for each overflow of its count.
    overflows: Vec<u64>,
}

impl Dense {
    const BLOCK_KEYS: usize = 16;
    const BLOCK_COUNT: u32 = 16;
    /// Most cells of a large space are empty: this many are checked together.
    const SKIPPED_CELLS: usize = 64;

    /// Memory of `cells` cells.
    pub(super) fn bytes(cells: u64) -> u64 {
        cells.saturating_mul(size_of::<u32>() as u64)
    }

    /// Memory of its cells.
    pub(super) fn array_bytes(&self) -> usize {
        self.cells * size_of::<u32>()
    }

    /// Creates an array, which is allocated on first use.
    pub(super) fn new(cells: usize) -> Self {
        Self { counts: Vec::new(), cells, overflows: Vec::new() }
    }

    fn open(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; self.cells];
        }
    }

    /// Counts keys, which are less than the number of cells.
    pub(super) fn add(&mut self, keys: &[u64]) {
        self.open();
        let (blocks, rest) = keys.as_chunks::<{ Self::BLOCK_KEYS }>();
        for block in blocks {
            // Repeated keys would depend on each other's sums: a block of one key needs one
            // addition.
            if is_repeated(block) {
                self.add_one(block[0], Self::BLOCK_COUNT);
            } else {
                for key in block {
                    self.add_one(*key, 1);
                }
            }
        }
        for key in rest {
            self.add_one(*key, 1);
        }
    }

    /// Counts a key of several rows.
    pub(super) fn add_run(&mut self, key: u64, rows: usize) {
        self.add_group((key, rows as u64));
    }

    #[inline]
    fn add_one(&mut self, key: u64, more: u32) {
        // The batch's tables were checked against the space: every key has a cell.
        let cell = usize::try_from(key).ok().and_then(|index| self.counts.get_mut(index));
        let Some(count) = cell else { unreachable!("a key is less than the number of cells") };
        let (sum, is_around) = count.overflowing_add(more);
        *count = sum;
        if is_around {
            self.overflows.push(key);
        }
    }

    /// Adds the counts of another array.
    pub(super) fn absorb(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.open();
        let blocks =
            self.counts.chunks_mut(Self::SKIPPED_CELLS).zip(other.counts.chunks(Self::SKIPPED_CELLS));
        for (number, (mine, others)) in blocks.enumerate().filter(|(_, (_, others))| !is_zero(others)) {
            let first = (number * Self::SKIPPED_CELLS) as u64;
            for ((count, more), key) in mine.iter_mut().zip(others).zip(first..) {
                let (sum, is_around) = count.overflowing_add(*more);
                *count = sum;
                if is_around {
                    self.overflows.push(key);
                }
            }
        }
        self.overflows.extend(&other.overflows);
    }

    /// Adds a group counted elsewhere.
    #[inline]
    pub(super) fn add_group(&mut self, (key, count): Pair) {
        self.open();
        let around = count >> u32::BITS;
        if around > 0 {
            self.overflows.extend((0..around).map(|_| key));
        }
        self.add_one(key, u32::try_from(count & u64::from(u32::MAX)).unwrap_or_default());
    }

    /// All groups.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let (keys, counts, _) = self.groups(0, self.counts.len());
        keys.into_iter().zip(counts).collect()
    }

    /// Takes all groups out, and resets the counts.
    pub(super) fn take_pairs(&mut self) -> Vec<Pair> {
        let pairs = self.pairs();
        self.counts.fill(0);
        self.overflows.clear();
        pairs
    }

    /// Returns at most `groups_max` groups from a key on, and the key to continue from.
    pub(super) fn groups(&self, from: u64, groups_max: usize) -> (Vec<u64>, Vec<u64>, u64) {
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        let mut next = from;
        let left = usize::try_from(from).ok().and_then(|from| self.counts.get(from..)).unwrap_or_default();
        for block in left.chunks(Self::SKIPPED_CELLS) {
            let first = next;
            next += block.len() as u64;
            if is_zero(block) && self.overflows.is_empty() {
                continue;
            }
            for (count, key) in block.iter().zip(first..) {
                let count = u64::from(*count) + self.around(key);
                if count > 0 {
                    keys.push(key);
                    counts.push(count);
                    if keys.len() == groups_max {
                        return (keys, counts, key + 1);
                    }
                }
            }
        }
        (keys, counts, next)
    }

    /// Count of a key's overflows.
    fn around(&self, key: u64) -> u64 {
        self.overflows.iter().filter(|other| **other == key).count() as u64 * (1 << u32::BITS)
    }
}

/// Without a branch per cell, the comparison is vectorised.
fn is_zero(cells: &[u32]) -> bool {
    cells.iter().fold(0, |all, cell| all | cell) == 0
}

#[cfg(test)]
mod tests {
    use super::Dense;

    #[test]
    fn counts_beyond_32_bits() {
        let mut dense = Dense::new(4);
        dense.add(&[]);
        dense.counts[2] = u32::MAX;
        dense.add(&[2, 3, 2]);
        let mut other = Dense::new(4);
        other.add(&[]);
        other.counts[2] = u32::MAX;
        other.add(&[2]);
        dense.absorb(&other);
        assert_eq!(dense.groups(0, 9), (vec![2, 3], vec![(2 << 32) + 1, 1], 4));
        assert_eq!(dense.groups(0, 1), (vec![2], vec![(2 << 32) + 1], 3));
    }

    #[test]
    fn cells_without_groups_are_skipped_wherever_one_goes_on() {
        let keys = [0_u64, 63, 64, 700, 701, 998];
        let mut dense = Dense::new(999);
        dense.add(&keys);
        let mut other = Dense::new(999);
        other.add(&keys[2..]);
        dense.absorb(&other);
        let counts: Vec<u64> = (0..6).map(|place| if place < 2 { 1 } else { 2 }).collect();
        for groups_max in 1..8 {
            let (mut all_keys, mut all_counts, mut from) = (Vec::new(), Vec::new(), 0);
            loop {
                let (keys, counts, next) = dense.groups(from, groups_max);
                if keys.is_empty() {
                    break;
                }
                from = next;
                all_keys.extend(keys);
                all_counts.extend(counts);
            }
            assert_eq!(
                (all_keys.as_slice(), &all_counts),
                (keys.as_slice(), &counts),
                "{groups_max} at once"
            );
        }
    }
}
