//! Ledger of the out-of-place policy: the valid sequences.
//!
//! # Format, version 4 (of the store's label)
//!
//! Eight copies of one block, at the places given by the label; generation *g* is written to copy
//! *g* mod 8 (see [`Rotation`](crate::extents::Rotation)). The valid copy with the greatest
//! generation applies; without one the store is damaged. Numbers are little-endian.
//!
//! ```text
//!  0  magic        8  "NANDLEPO"
//!  8  id          16  the store's
//! 24  generation   8  number of the ledger
//! 32  zone_blocks  8  length of a zone
//! 40  durable      8  sequence up to which all extents are durable; some may be gone, with their pages elsewhere
//! 48  cut          8  last valid sequence of the previous run; unused from version 3 on
//! 56  first        8  first sequence of this run; a power cut left behind those between; unused from version 3 on
//! 64  unconfirmed  8  number of generations since the last one known to be durable when it was written; 0 in
//!                     version 1, with two copies
//! 72  is_closed    8  1: since then pages were only moved, and nothing was acknowledged; 0 otherwise
//! 80  aborted    128  8 pairs of numbers of 8 bytes: sequences between them are invalid; 0 0 if unused, in
//!                     version 1, and from version 3 on
//! 208 map_blocks   8  length of a slot of the [saved map](super::saved_map); 0 before version 3
//! 216 saved        8  sequence up to which the saved map covers all extents, whose headers no longer matter
//! 224 slot         8  slot of the saved map; unused if `saved` is 0
//! 232 is_clean     8  1: closed, with everything in the saved map and no later write; 0 otherwise
//! 240 begun        8  no extent has a sequence above this plus 2³², not even one of an interrupted opening
//! 248 next         8  zone to begin next when the map was saved, or when the store was opened if nothing was
//!                     written in between; all ones if none was free
//! 256 needed       8  number of extents behind `saved`, up to `durable`, with the newest entry of a page; 0
//!                     before version 4
//! 264 needed_seal  4  CRC32C over sequence (8 bytes) and header checksum (4 bytes) of each of them, in order of
//!                     sequences; 0 before version 4
//! 268 spare        4  spare space in percent of the pages
//! 272 map_pages    8  number of page records in the saved map, which the zones support; 0 from earlier programs:
//!                     as in the label
//! 280 zones        8  number of zones, followed by the slots of the saved map; 0 from earlier programs: as many
//!                     as fit the area
//! 288 zeros
//! 4092 checksum    4  CRC32C of all preceding bytes
//! ```
//!
//! A ledger is written:
//! - at each opening before any other write, and again after the map is saved, or in earlier
//!   versions after headers beyond the cut are wiped;
//! - before a zone is reused, after a flush, with a `durable` that covers the zone's contents and
//!   their successors;
//! - after a map is saved and flushed.
//!
//! An opening that finds other extents than the `needed` ones reports damage: no power cut removes
//! durable extents. A close, and the first opening after it, write two equal ledgers, so that one
//! remains if the other is damaged or replaced by an older copy.

use super::format::{zone_field, zone_of_field};
use super::layout::AreaLayout;
use crate::BLOCK_BYTES;
use crate::extents::Stamp;
use crate::fields::{fields_of, fill};
use crate::label::Label;
use crate::options::USUAL_SPARE_PERCENT;

const MAGIC: [u8; 8] = *b"NANDLEPO";
/// Length of a copy in bytes.
pub(super) const LEDGER_BYTES: u64 = BLOCK_BYTES as u64;

/// See the [format](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) layout: AreaLayout,
    pub(super) durable: u64,
    pub(super) cut: u64,
    pub(super) first: u64,
    pub(super) is_closed: bool,
    pub(super) aborted: Aborted,
    pub(super) map: MapAt,
    pub(super) is_clean: bool,
    pub(super) begun: u64,
    /// Extents that an opening must find.
    pub(super) needed: Seal,
}

/// Number and checksum of extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Seal {
    pub(super) extents: u64,
    pub(super) checksum: u32,
}

impl Seal {
    /// Adds an extent with the checksum of its header.
    pub(super) fn add(&mut self, sequence: u64, seal: u32) {
        self.extents += 1;
        self.checksum = nandle_units::extend_checksum(self.checksum, &sequence.to_le_bytes());
        self.checksum = nandle_units::extend_checksum(self.checksum, &seal.to_le_bytes());
    }
}

/// Place of the newest saved map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MapAt {
    /// Last sequence that the map covers; 0 without a map.
    pub(super) saved: u64,
    pub(super) slot: u64,
    /// Zone to begin next.
    pub(super) next: Option<u64>,
}

impl MapAt {
    /// Slot of the next map.
    pub(super) fn other_slot(self) -> u64 {
        debug_assert!(self.slot < 2, "{self:?}");
        u64::from(self.saved > 0) & (1 - self.slot.min(1))
    }
}

const RANGES: usize = 8;

/// Sequences of extents that openings wiped, in formats 1 and 2. A drive may since have lost the
/// zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Aborted {
    /// Exclusive bounds of each range.
    ranges: [(u64, u64); RANGES],
}

impl Aborted {
    fn contains(&self, sequence: u64) -> bool {
        self.ranges.iter().any(|(below, above)| *below < sequence && sequence < *above)
    }
}

impl Ledger {
    /// Ledger of a store without writes.
    pub(super) fn new(layout: AreaLayout) -> Self {
        Self {
            layout,
            durable: 0,
            cut: 0,
            first: 1,
            is_closed: false,
            aborted: Aborted::default(),
            map: MapAt { next: Some(0), ..MapAt::default() },
            is_clean: false,
            begun: 0,
            needed: Seal::default(),
        }
    }

    /// Ledger with its layout. For earlier programs' ledgers the label provides it.
    pub(super) fn laid_out(self, label: &Label) -> Self {
        if self.layout.zones > 0 {
            return self;
        }
        let slots = label.map_stride_blocks(self.layout.map_blocks).saturating_mul(2);
        let zones = label.area_blocks().saturating_sub(slots) / self.layout.zone_blocks;
        let spare_percent = USUAL_SPARE_PERCENT;
        Self { layout: AreaLayout { zones, pages: label.pages, spare_percent, ..self.layout }, ..self }
    }

    /// Returns true for an extent left behind by an earlier run.
    pub(super) fn is_aborted(&self, sequence: u64) -> bool {
        (self.cut < sequence && sequence < self.first) || self.aborted.contains(sequence)
    }

    pub(super) fn encode(&self, id: u128, stamp: Stamp, block: &mut [u8]) {
        let numbers = [
            stamp.generation,
            self.layout.zone_blocks,
            self.durable,
            self.cut,
            self.first,
            stamp.unconfirmed,
            u64::from(self.is_closed),
        ];
        debug_assert!(
            self.map.saved <= self.durable || self.layout.map_blocks == 0,
            "a saved map is durable: {self:?}"
        );
        debug_assert!(
            self.layout.zones > 0 && stamp.unconfirmed <= stamp.generation,
            "{stamp:?} of {self:?}"
        );
        debug_assert!(
            !self.is_clean || self.needed == Seal::default(),
            "a closed store's map has all: {self:?}"
        );
        fill(block, MAGIC, id, |fields| {
            for number in numbers {
                fields.u64(number);
            }
            for (below, above) in self.aborted.ranges {
                fields.u64(below);
                fields.u64(above);
            }
            let MapAt { saved, slot, next } = self.map;
            let AreaLayout { map_blocks, pages, zones, spare_percent, .. } = self.layout;
            let next = zone_field(next);
            for number in [map_blocks, saved, slot, u64::from(self.is_clean), self.begun, next] {
                fields.u64(number);
            }
            fields.u64(self.needed.extents);
            fields.u32(self.needed.checksum);
            fields.u32(spare_percent);
            fields.u64(pages);
            fields.u64(zones);
        });
        debug_assert_eq!(Self::decode(id, block), Some((stamp, *self)), "what is written is read again");
    }

    pub(super) fn decode(id: u128, block: &[u8]) -> Option<(Stamp, Self)> {
        let mut fields = fields_of(block, MAGIC, id)?;
        let [generation, zone_blocks, durable, cut, first, unconfirmed, is_closed] =
            [(); 7].map(|()| fields.u64());
        let aborted = Aborted { ranges: [(); RANGES].map(|()| (fields.u64(), fields.u64())) };
        let [map_blocks, saved, slot, is_clean, begun, next] = [(); 6].map(|()| fields.u64());
        let next = zone_of_field(next);
        let (is_closed, is_clean) = (is_closed == 1, is_clean == 1);
        let map = MapAt { saved, slot, next };
        let needed = Seal { extents: fields.u64(), checksum: fields.u32() };
        let (spare_percent, pages, zones) = (fields.u32(), fields.u64(), fields.u64());
        let layout = AreaLayout { zone_blocks, zones, map_blocks, pages, spare_percent };
        let ledger = Self { layout, durable, cut, first, is_closed, aborted, map, is_clean, begun, needed };
        (zone_blocks > 0).then_some((Stamp { generation, unconfirmed }, ledger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_take_turns() {
        let map = MapAt::default();
        assert_eq!(map.other_slot(), 0);
        assert_eq!([0, 1].map(|slot| MapAt { saved: 4, slot, ..map }.other_slot()), [1, 0]);
    }

    #[test]
    fn what_was_written_is_read_and_damage_is_refused() {
        let layout = AreaLayout { zone_blocks: 16, zones: 40, map_blocks: 3, pages: 500, spare_percent: 20 };
        let ledger = Ledger { durable: 30, cut: 40, first: 99, is_closed: true, ..Ledger::new(layout) };
        let map = MapAt { saved: 25, slot: 1, ..ledger.map };
        let needed = Seal { extents: 5, checksum: 99 };
        let ledger = Ledger { map, begun: 77, needed, ..ledger };
        let mut aborted = Aborted::default();
        aborted.ranges[3] = (200, 300);
        let ledger = Ledger { aborted, ..ledger };
        let stamp = Stamp { generation: 7, unconfirmed: 2 };
        let mut block = vec![9; BLOCK_BYTES];
        ledger.encode(3, stamp, &mut block);
        assert_eq!(Ledger::decode(3, &block), Some((stamp, ledger)));
        assert_eq!(Ledger::decode(4, &block), None);
        let clean = Ledger { is_clean: true, needed: Seal::default(), ..ledger };
        let mut other = vec![9; BLOCK_BYTES];
        clean.encode(3, stamp, &mut other);
        assert_eq!(Ledger::decode(3, &other), Some((stamp, clean)));
        for at in [0, 30, 60, 4000, BLOCK_BYTES - 1] {
            block[at] ^= 4;
            assert_eq!(Ledger::decode(3, &block), None, "byte {at}");
            block[at] ^= 4;
        }
        assert_eq!([40, 41, 98, 99].map(|at| ledger.is_aborted(at)), [false, true, true, false]);
        assert_eq!([200, 201, 299, 300].map(|at| ledger.is_aborted(at)), [false, true, true, false]);
    }
}
