//! Header block of an extent in an out-of-place store.
//!
//! # Format, versions 1 to 4 (of the store's label)
//!
//! The area is divided into zones of equal length, given by the [ledger](super::ledger). A zone is
//! filled with extents from front to back. An extent is a header block followed by its pages,
//! written in one request. It never crosses the end of its zone. Numbers are little-endian.
//!
//! ```text
//!    0  magic        8  "NANDLEPZ"
//!    8  id          16  the store's
//!   24  sequence     8  one more than that of the previous extent, across all zones
//!   32  durable      8  all extents up to this sequence were durable when this one was written
//!   40  position     8  its block in the area
//!   48  pages        4  number of entries with contents, which come first, in the order of their places
//!   52  discards     4  number of entries without contents
//!   56  is_last      4  1: ends a group of batches; 0: the group continues in the next sequence
//!   60  form         4  2; 1 if the entries start at 64; 0 if they also have 12 bytes each, without the length, and
//!                      all pages are uncompressed
//!   64  next         8  zone to begin next after this extent; all ones if none was free
//!   72  entries     16 each: page number 8, checksum of number and contents 4, stored length 4 (both 0 in
//!                      a discard)
//! 4092  checksum     4  CRC32C of all preceding bytes
//! ```
//!
//! Pages are stored contiguously, uncompressed ones first, so that they occupy whole blocks. Zeros
//! fill the last block. A page stored in fewer bytes than its length is
//! [compressed](super::packing).
//!
//! A header is valid if its checksum, id and position are correct. Of two entries for a page the
//! one with the greater sequence applies. The [saved map](super::saved_map) covers all headers up
//! to its sequence, which no longer count themselves. Headers count up to the ledger's `durable`,
//! and beyond it in gapless sequence, with pages that match their checksums, up to the last that
//! ends a group. A gap below the `durable` of a valid header is damage, and so is a page in a zone
//! that was begun later.
//!
//! Sequences increase within a zone. Dead headers may remain anywhere, also behind the current end
//! of a zone: their sequences are smaller than those before them, or covered by the saved map.
//!
//! Before version 3 there is no saved map. All headers of the area count, except those between the
//! ledger's `cut` and `first`, which an interrupted run left behind. A dead header loses because
//! each of its pages has a newer entry elsewhere.

use super::format::{zone_field, zone_of_field};
use super::packing::Spot;
use crate::extents::{ChainLink, Link};
use crate::fields::{fields_of, fill, seal_of};
use crate::size::to_u32;
use crate::write_log::ExtentHeader;
use crate::{BLOCK_BYTES, PageNumber};

const MAGIC: [u8; 8] = *b"NANDLEPZ";
const ENTRIES_OFFSET: usize = 72;
const ENTRY_BYTES: usize = 16;
const EARLIER_ENTRY_BYTES: usize = 12;
const FORM: u32 = 2;
const FORM_WITHOUT_NEXT: u32 = 1;
const FORM_WITHOUT_LENGTHS: u32 = 0;
const ENTRIES_BYTES: usize = BLOCK_BYTES - ENTRIES_OFFSET - 4;
const EARLIER_ENTRIES_BYTES: usize = ENTRIES_BYTES + 8;
/// Maximum entries of a header.
pub(super) const ENTRIES_MAX: usize = ENTRIES_BYTES / ENTRY_BYTES;

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) sequence: u64,
    pub(super) durable: u64,
    pub(super) position: u64,
    pub(super) is_last: bool,
    /// Zone to begin next.
    pub(super) next: Option<u64>,
    /// Pages with contents in the order of their places.
    pub(super) pages: Vec<Entry>,
    pub(super) discards: Vec<PageNumber>,
    /// Checksum of the encoded or decoded block.
    pub(super) seal: u32,
}

/// A page of an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) page: PageNumber,
    pub(super) sum: u32,
    pub(super) stored_bytes: u32,
}

impl Header {
    /// Decodes a valid header at a position of the area.
    pub(super) fn decode(id: u128, page_bytes: u64, position: u64, block: &[u8]) -> Option<Self> {
        let mut fields = fields_of(block, MAGIC, id)?;
        let (sequence, durable, written_at) = (fields.u64(), fields.u64(), fields.u64());
        let [pages, discards, is_last] = [(); 3].map(|()| fields.u32() as usize);
        let form = fields.u32();
        let most = match form {
            FORM => ENTRIES_MAX,
            FORM_WITHOUT_NEXT => EARLIER_ENTRIES_BYTES / ENTRY_BYTES,
            FORM_WITHOUT_LENGTHS => EARLIER_ENTRIES_BYTES / EARLIER_ENTRY_BYTES,
            _ => return None,
        };
        if written_at != position || pages + discards > most {
            return None;
        }
        let next = if form == FORM { zone_of_field(fields.u64()) } else { None };
        let whole = to_u32(page_bytes);
        let mut entry = || Entry {
            page: PageNumber(fields.u64()),
            sum: fields.u32(),
            stored_bytes: if form == FORM_WITHOUT_LENGTHS { whole } else { fields.u32() },
        };
        let pages = (0..pages).map(|_| entry()).collect();
        let discards = (0..discards).map(|_| entry().page).collect();
        let (is_last, seal) = (is_last == 1, seal_of(block));
        Some(Self { sequence, durable, position, is_last, next, pages, discards, seal })
    }

    /// Returns true if all its pages exist in a store of `pages` pages.
    pub(super) fn is_of_pages(&self, pages: u64) -> bool {
        self.changed().all(|page| page.0 < pages)
    }

    /// Pages with entries.
    pub(super) fn changed(&self) -> impl Iterator<Item = PageNumber> {
        self.pages.iter().map(|entry| entry.page).chain(self.discards.iter().copied())
    }

    /// Pages with their places.
    pub(super) fn spots(&self) -> impl Iterator<Item = (Entry, Spot)> {
        let first_bytes = (self.position + 1) * BLOCK_BYTES as u64;
        self.pages.iter().scan(first_bytes, |next_bytes, entry| {
            let start_bytes = *next_bytes;
            *next_bytes += u64::from(entry.stored_bytes);
            Some((*entry, Spot { start_bytes, stored_bytes: entry.stored_bytes }))
        })
    }

    /// First block behind the last page.
    pub(super) fn end(&self) -> u64 {
        let stored_bytes: u64 = self.pages.iter().map(|entry| u64::from(entry.stored_bytes)).sum();
        self.position + 1 + stored_bytes.div_ceil(BLOCK_BYTES as u64)
    }
}

impl Link for Header {
    fn link(&self) -> ChainLink {
        let Self { sequence, durable, is_last, position, .. } = *self;
        ChainLink { sequence, durable, is_last, position }
    }
}

impl ExtentHeader for Header {
    fn encode(&mut self, id: u128, block: &mut [u8]) {
        let entries = self.pages.len() + self.discards.len();
        debug_assert!(entries > 0 && entries <= ENTRIES_MAX, "{entries} entries of {ENTRIES_MAX}");
        debug_assert!(self.durable < self.sequence, "an extent isn't durable before it is written");
        debug_assert!(self.pages.iter().all(|entry| entry.stored_bytes > 0), "a page takes room: {self:?}");
        fill(block, MAGIC, id, |fields| {
            for number in [self.sequence, self.durable, self.position] {
                fields.u64(number);
            }
            for count in [self.pages.len(), self.discards.len(), usize::from(self.is_last)] {
                fields.u32(to_u32(count as u64));
            }
            fields.u32(FORM);
            fields.u64(zone_field(self.next));
            let discards = self.discards.iter().map(|page| Entry { page: *page, sum: 0, stored_bytes: 0 });
            for Entry { page, sum, stored_bytes } in self.pages.iter().copied().chain(discards) {
                fields.u64(page.0);
                fields.u32(sum);
                fields.u32(stored_bytes);
            }
        });
        self.seal = seal_of(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_log::headers::{is_read_as_it_was_written, is_refused_elsewhere_and_damaged};

    fn header(pages: usize) -> Header {
        Header {
            sequence: 40,
            durable: 38,
            position: 17,
            is_last: true,
            next: Some(3),
            pages: (0_u32..)
                .take(pages)
                .map(|page| Entry {
                    page: PageNumber(u64::from(page) * 7),
                    sum: 0xdead + page,
                    stored_bytes: 4096 - page * 9,
                })
                .collect(),
            discards: (pages..ENTRIES_MAX).map(|page| PageNumber(page as u64)).collect(),
            seal: 0,
        }
    }

    fn decode(id: u128, position: u64, block: &[u8]) -> Option<Header> {
        Header::decode(id, 4096, position, block)
    }

    #[test]
    fn what_was_written_is_read_up_to_a_full_block() {
        is_read_as_it_was_written(ENTRIES_MAX, header, decode);
    }

    #[test]
    fn another_place_another_store_and_damage_are_refused() {
        is_refused_elsewhere_and_damaged(header(9), [24, 64, 180], decode);
    }
}
