//! Which logical units are in the superblocks that are next to be cleaned.
//!
//! A drive keeps such a list in each superblock itself and reads it before it cleans. Here it is made again out of the
//! forward map, for several superblocks at a time, so that going through the whole map costs each of them little: a
//! table of all would take as much memory as the forward map.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lazy_array::{LazyArray, NONE};

/// Lists of some closed superblocks. A list stays right until its superblock is erased, but for units that have gone
/// elsewhere since; the forward map knows which.
#[derive(Debug, Clone, Default)]
pub(crate) struct Residents {
    /// Most lists at a time.
    lists_max: usize,
    lists: BTreeMap<u32, Box<[u32]>>,
}

impl Residents {
    /// None yet, and never more than take a byte for each flash page.
    pub(crate) fn new(superblocks: u32, units_per_page: u32) -> Self {
        let bytes_per_page = size_of::<u32>() * units_per_page.max(1) as usize;
        Self { lists_max: (superblocks as usize / bytes_per_page).max(1), lists: BTreeMap::new() }
    }

    pub(crate) fn has(&self, superblock: u32) -> bool {
        self.lists.contains_key(&superblock)
    }

    /// The units that were at these offsets when the list was made; [`NONE`] where there was none.
    pub(crate) fn units(&self, superblock: u32, offsets: Range<u32>) -> &[u32] {
        let list = self.lists.get(&superblock);
        list.and_then(|list| list.get(offsets.start as usize..offsets.end as usize)).unwrap_or_default()
    }

    /// Makes the lists of as many of these superblocks as may have one, and forgets all others.
    pub(crate) fn find(
        &mut self,
        superblocks: impl Iterator<Item = u32>,
        forward: &LazyArray,
        units_per_superblock: u32,
    ) {
        let empty = || vec![NONE; units_per_superblock as usize].into_boxed_slice();
        self.lists = superblocks.take(self.lists_max).map(|superblock| (superblock, empty())).collect();
        for (superblock, list) in &mut self.lists {
            let first = superblock * units_per_superblock;
            for unit in forward.untouched_within(first..first + units_per_superblock) {
                put(list, unit - first, unit);
            }
        }
        let mut by_superblock: Vec<Option<&mut Box<[u32]>>> = Vec::new();
        for (superblock, list) in &mut self.lists {
            by_superblock.resize_with(*superblock as usize, || None);
            by_superblock.push(Some(list));
        }
        let superblock_of = Divisor::new(units_per_superblock);
        forward.for_each_stored(|unit, address| {
            let superblock = superblock_of.quotient(address);
            if let Some(Some(list)) = by_superblock.get_mut(superblock as usize) {
                put(list, address - superblock * units_per_superblock, unit);
            }
        });
    }

    /// A superblock was erased.
    pub(crate) fn forget(&mut self, superblock: u32) {
        self.lists.remove(&superblock);
    }

    /// Bytes of memory taken.
    pub(crate) fn bytes(&self) -> usize {
        self.lists.values().map(|list| size_of_val(&**list)).sum()
    }
}

fn put(list: &mut [u32], offset: u32, unit: u32) {
    if let Some(entry) = list.get_mut(offset as usize) {
        *entry = unit;
    }
}

/// Divides by multiplying (Lemire, Kaser, Kurz: *Faster remainder by direct computation*, 2019, §3.1): exact for all
/// numbers of 32 bits and divisors above 1.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u32) -> Self {
        Self { reciprocal: u64::MAX / u64::from(divisor.max(2)) + 1 }
    }

    #[inline]
    fn quotient(self, number: u32) -> u32 {
        let quotient = (u128::from(self.reciprocal) * u128::from(number)) >> 64;
        u32::try_from(quotient).unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_lies_in_their_superblocks_stored_or_untouched() {
        let mut forward = LazyArray::new(300_000);
        forward.set_identity_below(200_000);
        forward.replace(7, 250_000);
        forward.replace(299_999, 250_001);
        let mut residents = Residents::new(300, 25);
        residents.find([0, 1, 250, 251].into_iter(), &forward, 1_000);
        assert_eq!(residents.units(0, 6..8), [6, NONE]);
        assert_eq!(residents.units(250, 0..2), [7, 299_999]);
        assert_eq!((residents.units(1, 999..1_000), residents.units(251, 0..1)), (&[1_999][..], &[][..]));
        residents.find([131].into_iter(), &forward, 1_000);
        assert_eq!((residents.units(131, 5..6), residents.has(0)), (&[131_005][..], false));
    }

    #[test]
    fn quotients_are_exact() {
        for divisor in [2, 3, 5_120, 32_768, 999_983, u32::MAX] {
            for number in [0, 1, divisor - 1, divisor, divisor.saturating_add(1), 4_000_000_007, u32::MAX] {
                assert_eq!(Divisor::new(divisor).quotient(number), number / divisor, "{number} / {divisor}");
            }
        }
    }
}
