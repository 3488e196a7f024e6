//! Logical units in a superblock, for its cleaning.
//!
//! A drive stores such a list in each superblock and reads it before cleaning. Here a list is kept
//! for every superblock from its opening on, if memory allows. Otherwise (four units in each flash
//! page make the forward map alone four times as large) lists are rebuilt from the forward map.
//! Several are rebuilt at a time, to share the pass over the whole map.

use std::ops::Range;

use super::Geometry;
use super::lazy_array::{LazyArray, NONE};

/// Memory limit of forward map and lists for each flash page.
const BYTES_PER_PAGE: u64 = 16;

/// Lists of some superblocks. A list stays valid until its superblock is erased, except for units
/// that have moved since; the forward map identifies those.
#[derive(Debug, Clone, Default)]
pub(crate) struct Residents {
    units_per_superblock: u32,
    /// Limit of lists at a time.
    lists_max: usize,
    lists: Vec<Option<Box<[u32]>>>,
}

impl Residents {
    /// No lists yet. They are limited to a byte for each flash page, or to the remainder of
    /// [`BYTES_PER_PAGE`] after the forward map, if that is more.
    pub(crate) fn new(superblocks: u32, geometry: &Geometry, page_bytes: u64) -> Self {
        let entries_bytes = size_of::<u32>() as u64 * (page_bytes / geometry.unit_bytes.max(1)).max(1);
        let list_bytes_per_page = BYTES_PER_PAGE.saturating_sub(entries_bytes).max(1);
        let lists_max = (u64::from(superblocks) * list_bytes_per_page / entries_bytes).max(1);
        Self {
            units_per_superblock: geometry.units_per_superblock(),
            lists_max: usize::try_from(lists_max).unwrap_or(usize::MAX),
            lists: vec![None; superblocks as usize],
        }
    }

    /// Empty lists for another number of superblocks.
    pub(crate) fn of_superblocks(self, superblocks: u32) -> Self {
        let keeps_all = self.keeps_all();
        let lists_max = if keeps_all { superblocks as usize } else { self.lists_max };
        Self { lists_max, lists: vec![None; superblocks as usize], ..self }
    }

    pub(crate) fn has(&self, superblock: u32) -> bool {
        self.list(superblock).is_some()
    }

    /// Units written to these offsets, or [`NONE`].
    pub(crate) fn units(&self, superblock: u32, offsets: Range<u32>) -> &[u32] {
        let list = self.list(superblock);
        list.and_then(|list| list.get(offsets.start as usize..offsets.end as usize)).unwrap_or_default()
    }

    /// Starts the list of a superblock being opened.
    pub(crate) fn begin(&mut self, superblock: u32) {
        if self.keeps_all() {
            let list = self.empty();
            self.put(superblock, list);
        }
    }

    /// Records a unit written to an open superblock.
    #[inline]
    pub(crate) fn note(&mut self, superblock: u32, offset: u32, unit: u32) {
        if let Some(Some(list)) = self.lists.get_mut(superblock as usize) {
            put(list, offset, unit);
        }
    }

    /// Builds the lists of these superblocks, as many as allowed; all others are dropped.
    pub(crate) fn find(
        &mut self,
        superblocks: impl Iterator<Item = u32>,
        forward: &LazyArray,
        geometry: &Geometry,
    ) {
        if !self.keeps_all() {
            self.lists.fill(None);
        }
        for superblock in superblocks.take(self.lists_max) {
            let mut list = self.empty();
            let first = superblock * self.units_per_superblock;
            for unit in forward.untouched_within(first..first + self.units_per_superblock) {
                put(&mut list, unit - first, unit);
            }
            self.put(superblock, list);
        }
        forward.for_each_stored(|unit, address| {
            let (superblock, offset) = geometry.split(address);
            self.note(superblock, offset, unit);
        });
    }

    /// Drops the list of an erased superblock.
    pub(crate) fn forget(&mut self, superblock: u32) {
        if let Some(list) = self.lists.get_mut(superblock as usize) {
            *list = None;
        }
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().flatten().map(|list| size_of_val(&**list)).sum();
        lists + size_of_val(&*self.lists)
    }

    fn keeps_all(&self) -> bool {
        self.lists_max >= self.lists.len()
    }

    fn list(&self, superblock: u32) -> Option<&[u32]> {
        self.lists.get(superblock as usize)?.as_deref()
    }

    fn put(&mut self, superblock: u32, list: Box<[u32]>) {
        if let Some(slot) = self.lists.get_mut(superblock as usize) {
            *slot = Some(list);
        }
    }

    fn empty(&self) -> Box<[u32]> {
        vec![NONE; self.units_per_superblock as usize].into_boxed_slice()
    }
}

#[inline]
fn put(list: &mut [u32], offset: u32, unit: u32) {
    if let Some(entry) = list.get_mut(offset as usize) {
        *entry = unit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    /// Geometry with superblocks of 5 120 units, and lists for 300 superblocks.
    fn residents(page_bytes: u64) -> (Geometry, Residents) {
        let geometry = Geometry::of(&library::flash("x25-m-g2").unwrap());
        (geometry, Residents::new(300, &geometry, page_bytes))
    }

    #[test]
    fn lists_hold_what_lies_in_their_superblocks_stored_or_untouched() {
        let (geometry, mut residents) = residents(16 << 10);
        let mut forward = LazyArray::new(1_000_000);
        forward.set_identity_below(900_000);
        forward.replace(7, 250 * 5_120);
        forward.replace(999_999, 250 * 5_120 + 1);
        residents.find([0, 30, 250, 251].into_iter(), &forward, &geometry);
        assert_eq!(residents.units(0, 6..8), [6, NONE]);
        assert_eq!(residents.units(250, 0..3), [7, 999_999, NONE]);
        assert_eq!(residents.units(30, 5_119..5_120), [31 * 5_120 - 1]);
        residents.find([131].into_iter(), &forward, &geometry);
        assert_eq!((residents.units(131, 5..6), residents.has(0)), (&[131 * 5_120 + 5][..], false));
    }

    #[test]
    fn where_memory_allows_it_a_list_is_kept_as_its_superblock_is_written() {
        for (page_bytes, kept) in [(4 << 10, true), (16 << 10, false)] {
            let (_, mut residents) = residents(page_bytes);
            residents.begin(9);
            residents.note(9, 1, 77);
            assert_eq!(residents.units(9, 0..2), if kept { &[NONE, 77][..] } else { &[] });
            residents.forget(9);
            assert!(!residents.has(9));
        }
    }
}
