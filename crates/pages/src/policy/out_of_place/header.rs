//! The header block of an extent of the out-of-place policy.
//!
//! # Format, version 1 (of the store's label)
//!
//! The area is cut into zones of equal length; the [ledger](super::ledger) says how long. A zone is filled front to back
//! with extents. An extent is one header block and the pages that it describes, right behind it, written in one request.
//! It never crosses the end of its zone. Numbers are little-endian.
//!
//! ```text
//!    0  magic        8  "NANDLEPZ"
//!    8  id          16  the store's
//!   24  sequence     8  the timestamp: one more than that of the extent before, over all zones
//!   32  durable      8  all extents up to this sequence were durable when this one was written
//!   40  position     8  block of the area at which it lies
//!   48  pages        4  entries with contents; they come first, in the order of their places
//!   52  discards     4  entries without
//!   56  is_last      4  1: a group of batches ends here, 0: it goes on in the next sequence
//!   60  form         4  1; 0 where the entries are 12 bytes each, without the length, and all pages lie as they are
//!   64  entries     16 each: page number 8, checksum of number and contents 4, bytes that the page takes 4 (both 0 in
//!                      a discard)
//! 4092  checksum     4  CRC32C of all bytes before
//! ```
//!
//! Pages lie one behind the other without a gap, those that aren't compressed first, so that they lie in whole blocks;
//! zeros fill the last block. A page that takes fewer bytes than its length is [compressed](super::packing).
//!
//! A header is valid when its checksum, id and position are right. Of two entries for a page the one with the greater
//! sequence counts. Headers count up to the ledger's `durable` (but for those between its `cut` and `first`, which an
//! earlier run left behind), and from there on those that follow one another without a gap, whose pages have their
//! checksums, up to the last that ends a group. A gap below a `durable` that a valid header names is damage.
//!
//! A dead header may lie about anywhere, also behind the end of what was written since its zone was begun again: whatever
//! it names has a newer entry elsewhere, so it loses. That is why nothing is wiped before a zone is used again.

use super::packing::Spot;
use crate::extents::Link;
use crate::fields::{fields_of, fill};
use crate::{BLOCK_BYTES, PageNumber};

const MAGIC: [u8; 8] = *b"NANDLEPZ";
const ENTRIES_OFFSET: usize = 64;
const ENTRY_BYTES: usize = 16;
const EARLIER_ENTRY_BYTES: usize = 12;
const FORM: u32 = 1;
const EARLIER_FORM: u32 = 0;
const ENTRIES_BYTES: usize = BLOCK_BYTES - ENTRIES_OFFSET - 4;
/// Entries that a header has room for.
pub(super) const ENTRIES_MAX: usize = ENTRIES_BYTES / ENTRY_BYTES;

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) sequence: u64,
    pub(super) durable: u64,
    pub(super) position: u64,
    pub(super) is_last: bool,
    /// Pages with contents, by place.
    pub(super) pages: Vec<Entry>,
    pub(super) discards: Vec<PageNumber>,
}

/// A page of an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) page: PageNumber,
    pub(super) sum: u32,
    pub(super) stored_bytes: u32,
}

impl Header {
    pub(super) fn encode(&self, id: u128, block: &mut [u8]) {
        fill(block, MAGIC, id, |fields| {
            for number in [self.sequence, self.durable, self.position] {
                fields.u64(number);
            }
            for count in [self.pages.len(), self.discards.len(), usize::from(self.is_last)] {
                fields.u32(u32::try_from(count).unwrap_or(u32::MAX));
            }
            fields.u32(FORM);
            let discards = self.discards.iter().map(|page| Entry { page: *page, sum: 0, stored_bytes: 0 });
            for Entry { page, sum, stored_bytes } in self.pages.iter().copied().chain(discards) {
                fields.u64(page.0);
                fields.u32(sum);
                fields.u32(stored_bytes);
            }
        });
    }

    /// The header at a position of the area, if there is a valid one.
    pub(super) fn decode(id: u128, page_bytes: u64, position: u64, block: &[u8]) -> Option<Self> {
        let mut fields = fields_of(block, MAGIC, id)?;
        let (sequence, durable, written_at) = (fields.u64(), fields.u64(), fields.u64());
        let [pages, discards, is_last] = [(); 3].map(|()| fields.u32() as usize);
        let form = fields.u32();
        let entry_bytes = match form {
            FORM => ENTRY_BYTES,
            EARLIER_FORM => EARLIER_ENTRY_BYTES,
            _ => return None,
        };
        if written_at != position || pages + discards > ENTRIES_BYTES / entry_bytes {
            return None;
        }
        let whole = u32::try_from(page_bytes).unwrap_or(u32::MAX);
        let mut entry = || Entry {
            page: PageNumber(fields.u64()),
            sum: fields.u32(),
            stored_bytes: if form == FORM { fields.u32() } else { whole },
        };
        let pages = (0..pages).map(|_| entry()).collect();
        let discards = (0..discards).map(|_| entry().page).collect();
        Some(Self { sequence, durable, position, is_last: is_last == 1, pages, discards })
    }

    /// Its pages, and where they lie.
    pub(super) fn spots(&self) -> impl Iterator<Item = (Entry, Spot)> {
        let first_bytes = (self.position + 1) * BLOCK_BYTES as u64;
        self.pages.iter().scan(first_bytes, |next_bytes, entry| {
            let start_bytes = *next_bytes;
            *next_bytes += u64::from(entry.stored_bytes);
            Some((*entry, Spot { start_bytes, stored_bytes: entry.stored_bytes }))
        })
    }

    /// Block behind its last page.
    pub(super) fn end(&self) -> u64 {
        let stored_bytes: u64 = self.pages.iter().map(|entry| u64::from(entry.stored_bytes)).sum();
        self.position + 1 + stored_bytes.div_ceil(BLOCK_BYTES as u64)
    }
}

impl Link for Header {
    fn durable(&self) -> u64 {
        self.durable
    }

    fn is_last(&self) -> bool {
        self.is_last
    }

    fn position(&self) -> u64 {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(pages: usize) -> Header {
        Header {
            sequence: 40,
            durable: 38,
            position: 17,
            is_last: true,
            pages: (0_u32..)
                .take(pages)
                .map(|page| Entry {
                    page: PageNumber(u64::from(page) * 7),
                    sum: 0xdead + page,
                    stored_bytes: 4096 - page * 9,
                })
                .collect(),
            discards: (pages..ENTRIES_MAX).map(|page| PageNumber(page as u64)).collect(),
        }
    }

    #[test]
    fn what_was_written_is_read_up_to_a_full_block() {
        for pages in [0, 1, 100, ENTRIES_MAX] {
            let mut block = vec![1; BLOCK_BYTES];
            header(pages).encode(5, &mut block);
            assert_eq!(Header::decode(5, 4096, 17, &block), Some(header(pages)));
        }
    }

    #[test]
    fn another_place_another_store_and_damage_are_refused() {
        let mut block = vec![0; BLOCK_BYTES];
        header(9).encode(5, &mut block);
        assert_eq!(Header::decode(5, 4096, 18, &block), None, "it was misdirected");
        assert_eq!(Header::decode(6, 4096, 17, &block), None, "it is of another store");
        for at in [0, 8, 24, 64, 180, 4000, BLOCK_BYTES - 1] {
            block[at] ^= 1;
            assert_eq!(Header::decode(5, 4096, 17, &block), None, "byte {at}");
            block[at] ^= 1;
        }
    }
}
