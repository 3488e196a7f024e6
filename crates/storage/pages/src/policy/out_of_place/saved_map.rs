//! Saved map: places of pages and filled lengths of zones, after all extents up to one sequence.
//!
//! # Format, version 3 (of the store's label)
//!
//! Two slots of equal length behind the last zone. The [ledger](super::ledger) stores their length,
//! their number of pages, the current slot and its sequence. A slot is a series of independent
//! blocks. Numbers are little-endian.
//!
//! ```text
//!    0  magic        8  "NANDLEPM"
//!    8  id          16  the store's
//!   24  saved        8  sequence up to which this map covers extents, unique among the maps of a store
//!   32  index        8  of the block in its slot
//!   40  records    252 of 16 bytes: pages by number, then zones; zeros behind the last
//! 4072  zeros
//! 4092  checksum     4  CRC32C of all preceding bytes
//!
//! a page             8  offset in the area; all ones if never written
//!                    4  stored length; 0: discarded, by the header in that block
//!                    4  checksum of number and contents
//! a zone             8  greatest sequence in it
//!                    4  number of filled blocks; 0 if free
//!                    4  zeros
//! ```
//!
//! A map is written to the slot that the newest durable ledger doesn't name, and flushed. A ledger
//! that names it follows, with another flush. The map named by a ledger is therefore durable,
//! whether or not the ledger is. A block that is invalid, or belongs to another map or place, is
//! taken from the other slot if that has the same map: a close saves the map to both. Otherwise the
//! store is damaged.

use super::layout::AreaLayout;
use super::map::{Map, PagePlace};
use super::packing::Spot;
use crate::fields::{fields_of, fill};
use crate::size::{to_u32, to_usize};
use crate::{BLOCK_BYTES, PageNumber};

const MAGIC: [u8; 8] = *b"NANDLEPM";
const RECORD_BYTES: u64 = 16;
/// Records per block.
pub(super) const RECORDS: u64 = 252;
/// Place of a page never written.
const NOWHERE: u64 = u64::MAX;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Number of blocks of a slot.
pub(super) fn blocks(pages: u64, zones: u64) -> u64 {
    pages.saturating_add(zones).div_ceil(RECORDS).max(1)
}

/// Filled part of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Filled {
    /// Greatest sequence in the zone.
    pub(super) newest: u64,
    pub(super) written_blocks: u64,
}

/// Record of a page or a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record(u64, u32, u32);

impl Record {
    fn of_place(place: PagePlace) -> Self {
        match place {
            PagePlace::Nowhere => Self(NOWHERE, 0, 0),
            PagePlace::At { spot, sum, .. } => Self(spot.start_bytes, spot.stored_bytes, sum),
            PagePlace::Discarded { block, .. } => Self(block * BLOCK, 0, 0),
        }
    }

    fn place(self, sequence: u64) -> PagePlace {
        match self {
            Self(NOWHERE, ..) => PagePlace::Nowhere,
            Self(start_bytes, 0, _) => PagePlace::Discarded { block: start_bytes / BLOCK, sequence },
            Self(start_bytes, stored_bytes, sum) => {
                PagePlace::At { spot: Spot { start_bytes, stored_bytes }, sum, sequence }
            }
        }
    }

    fn of_zone(filled: Filled) -> Self {
        Self(filled.newest, to_u32(filled.written_blocks), 0)
    }

    fn filled(self) -> Filled {
        Filled { newest: self.0, written_blocks: u64::from(self.1) }
    }
}

/// Encodes a whole map for a slot, with a record for each page and zone of the layout. Those
/// missing from the map count as never written.
pub(super) fn encode(
    (id, saved): (u128, u64),
    layout: AreaLayout,
    map: &Map,
    zones: impl Iterator<Item = Filled>,
) -> Vec<u8> {
    let pages = map.places().chain(std::iter::repeat(PagePlace::Nowhere)).take(to_usize(layout.pages));
    let zones = zones.chain(std::iter::repeat(Filled::default())).take(to_usize(layout.zones));
    let mut records = pages.map(Record::of_place).chain(zones.map(Record::of_zone)).peekable();
    let mut slot = Vec::new();
    for index in 0_u64.. {
        if index > 0 && records.peek().is_none() {
            break;
        }
        let start = slot.len();
        slot.resize(start + BLOCK_BYTES, 0);
        let Some(block) = slot.get_mut(start..) else { unreachable!("a slot has the block that it grew by") };
        fill(block, MAGIC, id, |fields| {
            fields.u64(saved);
            fields.u64(index);
            for Record(first, second, third) in records.by_ref().take(to_usize(RECORDS)) {
                fields.u64(first);
                fields.u32(second);
                fields.u32(third);
            }
        });
    }
    slot
}

/// A map being read block by block.
#[derive(Debug)]
pub(super) struct Loaded {
    saved: u64,
    pages: u64,
    pub(super) map: Map,
    pub(super) zones: Vec<Filled>,
}

impl Loaded {
    /// Map before its first block, with memory for at least `pages_now` pages.
    pub(super) fn begin(saved: u64, layout: AreaLayout, pages_now: u64) -> Self {
        let zones = vec![Filled::default(); to_usize(layout.zones)];
        Self { saved, pages: layout.pages, map: Map::new(layout.pages.max(pages_now)), zones }
    }

    /// Returns true if a block belongs to this map at this place.
    pub(super) fn is_of(saved: u64, id: u128, index: u64, block: &[u8]) -> bool {
        fields_of(block, MAGIC, id).is_some_and(|mut fields| (fields.u64(), fields.u64()) == (saved, index))
    }

    /// Enters a block. Returns false if it doesn't belong to this map at this place.
    pub(super) fn enter(&mut self, id: u128, index: u64, block: &[u8]) -> bool {
        let Some(mut fields) = fields_of(block, MAGIC, id) else { return false };
        if (fields.u64(), fields.u64()) != (self.saved, index) {
            return false;
        }
        debug_assert!(
            index < blocks(self.pages, self.zones.len() as u64),
            "block {index} lies behind the map of {} pages",
            self.pages
        );
        for number in index * RECORDS..(index + 1) * RECORDS {
            let record = Record(fields.u64(), fields.u32(), fields.u32());
            if number < self.pages {
                self.map.put(PageNumber(number), record.place(self.saved));
            } else if let Some(zone) =
                usize::try_from(number - self.pages).ok().and_then(|zone| self.zones.get_mut(zone))
            {
                *zone = record.filled();
            }
        }
        true
    }
}

const _: () = assert!(40 + RECORDS * RECORD_BYTES <= BLOCK - 4, "records and checksum fit into a block");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_loaded() {
        let mut map = Map::new(600);
        let spot = Spot { start_bytes: 12_300, stored_bytes: 77 };
        map.put(PageNumber(3), PagePlace::At { spot, sum: 9, sequence: 40 });
        map.put(PageNumber(599), PagePlace::Discarded { block: 5, sequence: 40 });
        let zones = [Filled { newest: 38, written_blocks: 12 }, Filled::default()];
        let layout = AreaLayout { zone_blocks: 17, zones: 2, map_blocks: 3, pages: 600, spare_percent: 15 };
        let saved = encode((5, 40), layout, &map, zones.into_iter());
        assert_eq!(saved.len() as u64, blocks(600, 2) * BLOCK);
        let mut loaded = Loaded::begin(40, layout, 600);
        for (index, block) in (0..).zip(saved.chunks(BLOCK_BYTES)) {
            assert!(!loaded.enter(5, index + 1, block), "it is in another place");
            assert!(!loaded.enter(6, index, block), "it is another store's");
            assert!(loaded.enter(5, index, block));
        }
        assert!(map.places().eq(loaded.map.places()));
        assert_eq!(loaded.zones, zones);
        assert!(!Loaded::begin(41, layout, 600).enter(5, 0, &saved[..BLOCK_BYTES]), "it is of an older map");
    }
}
