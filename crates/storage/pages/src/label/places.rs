//! Places of the copies of the label, the mark of a close and the ledger.
//!
//! From version 5 on they lie in eight slots. Damage to one stretch of the device, such as a
//! drive's mapping unit (16 to 64 KiB) or an array's chunk, leaves the other copies intact. Earlier
//! versions stored all copies contiguously.

use super::Label;
use crate::{BLOCK_BYTES, PolicyKind};

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Number of slots.
pub(super) const SLOTS: u64 = 8;
/// Blocks of a slot before its ledger: the label, and a mark in some slots.
pub(super) const BLOCKS_BEFORE_LEDGER: u64 = 2;
/// Length of most drives' mapping units, or more.
pub(super) const SLOT_BYTES_MIN: u64 = 64 << 10;
/// Length of most arrays' chunks, or more.
const SLOT_BYTES_OF_LARGE: u64 = 1 << 20;
/// Minimum length of all pages for such slots.
const LARGE_STORE_BYTES: u64 = 1 << 30;
/// Fits a ledger of the largest staging area.
pub(super) const SLOT_BYTES_MAX: u64 = 1 << 36;
/// Copies of the mark of a close.
pub(crate) const MARK_COPIES: u64 = 2;
/// Slots with a copy of the high-water mark.
const HIGH_WATER_SLOTS: std::ops::Range<u64> = 6..8;
/// Copies of the label before version 5.
const EARLIER_LABEL_COPIES: u64 = 2;

/// Length of a new store's slots: a power of two, so that a reader can guess it.
pub(super) fn slot_bytes(ledger_bytes: u64, pages_bytes: u64) -> u64 {
    let least = if pages_bytes >= LARGE_STORE_BYTES { SLOT_BYTES_OF_LARGE } else { SLOT_BYTES_MIN };
    let slot_bytes = (BLOCKS_BEFORE_LEDGER * BLOCK + ledger_bytes).next_power_of_two().max(least);
    debug_assert!(slot_bytes <= SLOT_BYTES_MAX, "a reader looks for slots of {slot_bytes} bytes");
    slot_bytes
}

/// Distance of both slots of the saved map, so that no mapping unit holds parts of both.
pub(crate) fn map_stride_blocks(blocks: u64) -> u64 {
    if blocks == 0 { 0 } else { blocks.max(SLOT_BYTES_MIN / BLOCK) }
}

/// Blocks for a directory, enough for most staging areas: 64 bytes per block of the area. An extent
/// with one page takes 86 bytes, and two blocks of the area.
pub(super) fn directory_blocks(policy: PolicyKind, area_bytes: u64) -> u64 {
    if policy.has_staging_area() { 1 + area_bytes / BLOCK / 64 } else { 0 }
}

/// Possible lengths of a slot.
pub(super) fn slot_lengths() -> impl Iterator<Item = u64> {
    (SLOT_BYTES_MIN.trailing_zeros()..=SLOT_BYTES_MAX.trailing_zeros()).map(|bit| 1 << bit)
}

/// Places of the copies of the [high-water mark](super::high_water) among slots of this length.
pub(super) fn high_water_at(slot_bytes: u64) -> impl Iterator<Item = u64> {
    HIGH_WATER_SLOTS.map(move |slot| slot * slot_bytes + BLOCK)
}

/// Places of labels of all versions, in the order in which a reader tries them when block 0 holds
/// none. The slots of a store precede all places where a previous store's labels could remain.
pub(super) fn candidates(capacity_bytes: u64) -> Vec<u64> {
    let end = capacity_bytes.saturating_sub(BLOCK - 1);
    let of_slots = slot_lengths().flat_map(|length| (1..SLOTS).map(move |slot| slot * length));
    let mut offsets: Vec<u64> = of_slots.chain([0, BLOCK]).filter(|offset| *offset < end).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

impl Label {
    /// Number of copies of the label.
    pub(crate) fn label_copies(&self) -> u64 {
        if self.has_slots() { SLOTS } else { EARLIER_LABEL_COPIES }
    }

    /// Offset of a copy of the label.
    pub(crate) fn label_at(&self, copy: u64) -> u64 {
        debug_assert!(copy < self.label_copies(), "copy {copy} of {}", self.label_copies());
        if self.has_slots() { copy * self.slot_bytes } else { copy * BLOCK }
    }

    /// Offsets of all copies of the label.
    pub(crate) fn label_places(&self) -> impl Iterator<Item = u64> {
        (0..self.label_copies()).map(|copy| self.label_at(copy))
    }

    /// Offset of a copy of the ledger.
    pub(crate) fn ledger_at(&self, copy: u64) -> u64 {
        debug_assert!(copy < self.ledger_copies, "copy {copy} of {}", self.ledger_copies);
        self.ledger_offset + copy * if self.has_slots() { self.slot_bytes } else { self.ledger_bytes }
    }

    /// Offsets of the marks of a [clean close](crate::staging); none before version 3.
    pub(crate) fn mark_places(&self) -> impl Iterator<Item = u64> {
        let copies = if self.has_close_marks() { MARK_COPIES } else { 0 };
        (0..copies).map(|copy| self.mark_at(copy))
    }

    /// Offsets of the [high-water marks](super::high_water); none before version 5.
    pub(crate) fn high_water_places(&self) -> impl Iterator<Item = u64> {
        let slot_bytes = self.has_slots().then_some(self.slot_bytes);
        slot_bytes.into_iter().flat_map(high_water_at)
    }

    fn mark_at(&self, copy: u64) -> u64 {
        if self.has_slots() {
            return copy * self.slot_bytes + BLOCK;
        }
        self.ledger_offset + self.ledger_copies * self.ledger_bytes + copy * BLOCK
    }

    /// End of the copies, and start of checksums, staging area and pages.
    pub(crate) fn copies_end(&self) -> u64 {
        if self.has_slots() {
            return SLOTS * self.slot_bytes;
        }
        let marks = if self.has_close_marks() { MARK_COPIES } else { 0 };
        self.mark_at(marks)
    }

    /// Distance of the saved map's slots in out-of-place, for `blocks` blocks each.
    pub(crate) fn map_stride_blocks(&self, blocks: u64) -> u64 {
        if self.has_slots() { map_stride_blocks(blocks) } else { blocks }
    }

    /// Blocks for the [directory](crate::staging) of a closed staging area. Before version 5 it
    /// used free blocks of the area.
    pub(crate) fn directory_blocks(&self) -> u64 {
        if self.has_slots() { directory_blocks(self.policy, self.area_bytes) } else { 0 }
    }

    /// Offset of these blocks.
    pub(crate) fn directory_offset(&self) -> u64 {
        self.sums_offset + self.sums_bytes
    }

    /// Ranges of the slots without a label or a ledger.
    pub(crate) fn rest_of_slots(&self) -> impl Iterator<Item = std::ops::Range<u64>> {
        let ledgers = (0..SLOTS).map(|slot| self.ledger_offset + slot * self.slot_bytes);
        ledgers.flat_map(|ledger| {
            let slot = ledger - self.ledger_offset;
            [slot + BLOCK..ledger, ledger + self.ledger_bytes..slot + self.slot_bytes]
        })
    }

    /// Returns true if the copies lie in slots.
    fn has_slots(&self) -> bool {
        self.slot_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CreateOptions;

    fn planned(pages: u64, buffer_bytes: u64) -> Label {
        let options =
            CreateOptions { buffer_bytes, ..CreateOptions::new(PolicyKind::StableRing, 4096, pages) };
        let (ledger_bytes, area_bytes) = crate::policy::areas(&options).unwrap();
        Label::plan(&options, ledger_bytes, area_bytes).unwrap()
    }

    #[test]
    fn slots_are_as_long_as_what_goes_bad_together_and_hold_a_ledger() {
        for (pages, buffer_bytes, slot_bytes) in [
            (100, 1 << 20, 64 << 10),
            ((1 << 18) - 1, 1 << 20, 64 << 10),
            (1 << 18, 1 << 20, 1 << 20),
            (100, 8 << 30, 1 << 20),
        ] {
            let label = planned(pages, buffer_bytes);
            assert_eq!(label.slot_bytes, slot_bytes, "{pages} pages, {buffer_bytes} bytes staged");
            assert!(label.ledger_at(1) + label.ledger_bytes <= label.label_at(2));
        }
    }

    #[test]
    fn no_two_structures_share_a_place() {
        let label = planned(100, 1 << 20);
        let mut places: Vec<_> = label.label_places().chain(label.mark_places()).collect();
        places.extend(label.high_water_places());
        places.extend((0..8).map(|copy| label.ledger_at(copy)));
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0] + 4096 <= pair[1]), "{places:?}");
        assert_eq!(label.copies_end(), 8 * label.slot_bytes);
        let rest: u64 = label.rest_of_slots().map(|range| range.end - range.start).sum();
        assert_eq!(rest, 8 * (label.slot_bytes - 4096 - label.ledger_bytes));
    }

    #[test]
    fn every_copy_is_among_the_places_where_readers_look() {
        for label in [planned(100, 1 << 20), planned(1 << 20, 1 << 20), planned(100, 1 << 48)] {
            let offsets = candidates(1 << 60);
            assert!(label.label_places().all(|place| offsets.contains(&place)), "{label:?}");
        }
        assert_eq!(candidates(100_000), [0, 4096, 65_536]);
    }
}
