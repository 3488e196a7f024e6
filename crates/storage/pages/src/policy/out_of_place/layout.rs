//! Layout of the area: zones and two slots for the saved map, with growth.
//!
//! ```text
//! before  zone 0 … zone 8 │ slot 0 │ slot 1 │
//! after   zone 0 … zone 8 │ zone 9 … zone 20  │ slot 0 │ slot 1 │
//! ```
//!
//! New zones start at the old slots of the saved map, and the new slots lie behind the old end of
//! the area. The old map therefore remains until a durable [ledger](super::ledger) adopts the new
//! layout. Only then are new zones written.
//!
//! A layout for growth has spare pages, as many as its zones support. Growth up to that number
//! changes only the label.

use super::capacity::{filled_zones, least_spare};
use super::format::PIECE_PAGES;
use super::saved_map;
use crate::BLOCK_BYTES;
use crate::label::{Label, map_stride_blocks};

const BLOCK: u64 = BLOCK_BYTES as u64;

/// Lengths of the parts of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AreaLayout {
    pub(super) zone_blocks: u64,
    pub(super) zones: u64,
    /// Length of a slot of the saved map; 0 in a store without one.
    pub(super) map_blocks: u64,
    /// Number of page records in the saved map, and thus the maximum number of pages in this
    /// layout.
    pub(super) pages: u64,
    /// Spare zones in addition to those that pages fill, in percent of the pages.
    pub(super) spare_percent: u32,
}

impl AreaLayout {
    /// Layout of a new store with `pages` pages, including the header's.
    pub(super) fn of_new(pages: u64, page_blocks: u64, zone_blocks: u64, spare_percent: u32) -> Self {
        let zones = wanted_zones(pages, page_blocks, zone_blocks, spare_percent);
        Self { zone_blocks, zones, map_blocks: saved_map::blocks(pages, zones), pages, spare_percent }
    }

    /// Length of the area in blocks.
    pub(super) fn blocks(&self) -> u64 {
        let slots = map_stride_blocks(self.map_blocks).saturating_mul(2);
        self.zone_bytes_end().saturating_add(slots)
    }

    fn zone_bytes_end(&self) -> u64 {
        self.zones.saturating_mul(self.zone_blocks)
    }

    /// Length of the area in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks().saturating_mul(BLOCK)
    }

    /// First block of a slot of the saved map.
    pub(super) fn slot_block(&self, label: &Label, slot: u64) -> u64 {
        debug_assert!(slot < 2, "slot {slot} of {self:?}");
        self.zone_bytes_end() + slot.min(1) * label.map_stride_blocks(self.map_blocks)
    }

    /// Layout for `pages` pages: this one if they fit.
    pub(super) fn grown(self, pages: u64, page_blocks: u64) -> Self {
        if pages <= self.pages {
            return self;
        }
        let wanted = wanted_zones(pages, page_blocks, self.zone_blocks, self.spare_percent);
        self.with_zones(wanted.max(self.blocks().div_ceil(self.zone_blocks)), page_blocks)
    }

    /// Layout of an area that growth extended to this length: the earlier result of
    /// [`grown`](Self::grown).
    pub(super) fn of_area(self, area_blocks: u64, page_blocks: u64) -> Self {
        if area_blocks <= self.blocks() {
            return self;
        }
        let fits = |zones| self.with_zones(zones, page_blocks).blocks() <= area_blocks;
        self.with_zones(largest(self.zones, area_blocks / self.zone_blocks, fits), page_blocks)
    }

    /// Layout with `zones` zones, and the maximum number of pages for them.
    fn with_zones(self, zones: u64, page_blocks: u64) -> Self {
        let Self { zone_blocks, spare_percent, .. } = self;
        let is_enough = |pages| wanted_zones(pages, page_blocks, zone_blocks, spare_percent) <= zones;
        let pages = largest(0, zones.saturating_mul(zone_blocks) / page_blocks.max(1), is_enough);
        Self { zones, pages, map_blocks: saved_map::blocks(pages, zones), ..self }
    }
}

/// Largest number in a range that passes, or `least` if none does. Requires a monotonic predicate.
fn largest(least: u64, most: u64, passes: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (least, most.max(least));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if passes(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Number of zones of a store with `pages` pages.
fn wanted_zones(pages: u64, page_blocks: u64, zone_blocks: u64, spare_percent: u32) -> u64 {
    let blocks = pages.saturating_mul(page_blocks);
    let spare_blocks = u128::from(blocks) * u128::from(spare_percent) / 100;
    let spare_zones = u64::try_from(spare_blocks / u128::from(zone_blocks)).unwrap_or(u64::MAX);
    let wanted = blocks.div_ceil(zone_blocks).saturating_add(spare_zones);
    let filled = filled_zones(pages, zone_blocks, page_blocks, PIECE_PAGES);
    wanted.max(filled.saturating_add(least_spare(zone_blocks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [u64; 6] = [1, 7, 100, 1000, 54_321, 1 << 24];

    fn of_new(pages: u64, page_blocks: u64, zone_blocks: u64) -> AreaLayout {
        AreaLayout::of_new(pages, page_blocks, zone_blocks, 15)
    }

    #[test]
    fn a_longer_area_tells_its_layout() {
        for (page_blocks, zone_blocks) in [(1, 17), (1, 256), (1, 1024), (16, 257), (4, 4096)] {
            for pages in PAGES {
                let before = of_new(pages, page_blocks, zone_blocks);
                for more in [1, 3, 100, 10_000, 1 << 30] {
                    let after = before.grown(pages + more, page_blocks);
                    assert!(after.pages >= pages + more, "{before:?} {after:?}");
                    assert!(after.slot_block_of_new(0) >= before.blocks(), "{before:?} {after:?}");
                    assert!(after.map_blocks >= saved_map::blocks(after.pages, after.zones));
                    assert_eq!(before.of_area(after.blocks(), page_blocks), after, "{before:?}");
                    assert_eq!(after.grown(after.pages, page_blocks), after);
                    let again = after.grown(after.pages + 1, page_blocks);
                    assert!(again.slot_block_of_new(0) >= after.blocks(), "{after:?} {again:?}");
                    assert_eq!(after.of_area(again.blocks(), page_blocks), again, "{after:?}");
                }
            }
        }
    }

    /// Growing by a thousandth at a time makes a store little longer than creating it at full size.
    #[test]
    fn many_small_growths_take_little_more_than_one() {
        for (pages, zone_blocks, most) in [(1000, 17, 1.6), (100_000, 256, 1.1), (1 << 24, 256, 1.05)] {
            let mut layout = of_new(pages, 1, zone_blocks);
            let mut layouts = 0;
            for nth in 1..=1000 {
                let next = layout.grown(pages + nth * pages / 1000, 1);
                layouts += u64::from(next != layout);
                layout = next;
            }
            let whole = of_new(2 * pages, 1, zone_blocks);
            assert!(layouts < 200, "{layouts} layouts");
            assert!(layout.blocks() as f64 <= most * whole.blocks() as f64, "{layout:?} {whole:?}");
        }
    }

    #[test]
    fn what_no_device_holds_is_no_overflow() {
        for pages in [1 << 46, u64::MAX - 7, u64::MAX] {
            assert!(of_new(10, 1, 17).grown(pages, 16).bytes() > 1 << 50);
        }
    }

    impl AreaLayout {
        fn slot_block_of_new(&self, slot: u64) -> u64 {
            self.blocks() - (2 - slot) * map_stride_blocks(self.map_blocks)
        }
    }
}
