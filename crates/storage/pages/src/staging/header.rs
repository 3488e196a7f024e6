//! Header block of an extent.
//!
//! # Format, version 1 to 3 (of the store's label)
//!
//! An extent is a header block followed by its pages, written in one request. Numbers are
//! little-endian.
//!
//! ```text
//!    0  magic        8  "NANDLEPX"
//!    8  id          16  the store's
//!   24  epoch        8  number of the opening that wrote it, from 1; 0 in a renewal, which is valid only if the
//!                       ledger names it
//!   32  sequence     8  one more than that of the previous extent, also across openings
//!   40  durable      8  all extents up to this sequence were durable when this one was written
//!   48  position     8  its block in the staging area
//!   56  pages        4  number of entries with contents, which come first, in the order of their slots
//!   60  discards     4  number of entries without contents
//!   64  is_last      4  1: ends a group of batches; 0: the group continues in the next extent
//!   68  zeros        4
//!   72  entries     12 each: page number 8, checksum of number and contents 4 (0 in a discard)
//! 4092  checksum     4  CRC32C of all preceding bytes
//! ```
//!
//! A header is valid if its checksum, id and position are correct. Two kinds of valid headers
//! count: those that the [ledger](super::ledger) names; and, behind its `durable`, those of its
//! epoch in gapless sequence, with pages that match their checksums, up to the last that ends a
//! group. All others are dead, or were never completed by an interrupted run. A gap below the
//! `durable` of a valid header of the epoch is damage, and so is a valid header of a later epoch
//! than that of the newest ledger.

use crate::extents::{ChainLink, Link};
use crate::fields::{fields_of, fill, seal_of};
use crate::label::Label;
use crate::size::to_u32;
use crate::write_log::ExtentHeader;
use crate::{BLOCK_BYTES, PageNumber};

const MAGIC: [u8; 8] = *b"NANDLEPX";
const POSITION_OFFSET: usize = 48;
const ENTRIES_OFFSET: usize = 72;
const ENTRY_BYTES: usize = 12;
/// Maximum entries of a header.
pub(crate) const ENTRIES_MAX: usize = (BLOCK_BYTES - ENTRIES_OFFSET - 4) / ENTRY_BYTES;

/// Epoch of extents outside the chain.
pub(crate) const NO_EPOCH: u64 = 0;

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) epoch: u64,
    pub(crate) sequence: u64,
    pub(crate) durable: u64,
    pub(crate) position: u64,
    pub(crate) is_last: bool,
    /// Pages with contents in the order of their slots, with checksums.
    pub(crate) pages: Vec<(PageNumber, u32)>,
    pub(crate) discards: Vec<PageNumber>,
    /// Checksum of the encoded block, which distinguishes it from everything else written at its
    /// position.
    pub(crate) seal: u32,
}

impl Header {
    /// Decodes a valid header at a position of the staging area.
    pub(crate) fn decode(id: u128, position: u64, block: &[u8]) -> Option<Self> {
        let mut fields = fields_of(block, MAGIC, id)?;
        let (epoch, sequence, durable, written_at) = (fields.u64(), fields.u64(), fields.u64(), fields.u64());
        let [pages, discards, is_last, _] = [(); 4].map(|()| fields.u32() as usize);
        if written_at != position || pages + discards > ENTRIES_MAX {
            return None;
        }
        let mut entries = |count| (0..count).map(|_| (PageNumber(fields.u64()), fields.u32())).collect();
        let pages: Vec<(PageNumber, u32)> = entries(pages);
        let discards: Vec<(PageNumber, u32)> = entries(discards);
        let discards = discards.into_iter().map(|(page, _)| page).collect();
        let (is_last, seal) = (is_last == 1, seal_of(block));
        Some(Self { epoch, sequence, durable, position, is_last, pages, discards, seal })
    }
}

impl Header {
    /// Length of the encoded header without trailing zeros and checksum.
    pub(super) fn length_bytes(&self) -> usize {
        ENTRIES_OFFSET + (self.pages.len() + self.discards.len()) * ENTRY_BYTES
    }

    /// Encodes the header as a block.
    pub(super) fn encoded(&self, id: u128) -> Vec<u8> {
        let mut block = vec![0; BLOCK_BYTES];
        self.clone().encode(id, &mut block);
        block
    }

    /// Position stored in a block.
    pub(super) fn position_of(block: &[u8]) -> Option<u64> {
        block.get(POSITION_OFFSET..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// First block behind the extent, within the area.
    pub(super) fn end_block(&self, label: &Label) -> u64 {
        let end = self.position + 1 + self.pages.len() as u64 * label.page_blocks();
        end.min(label.area_blocks())
    }

    /// Returns true if all its pages exist in a store of `pages` pages. No store writes others.
    pub(super) fn is_of_pages(&self, pages: u64) -> bool {
        let mut named = self.pages.iter().map(|(page, _)| page).chain(&self.discards);
        named.all(|page| page.0 < pages)
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
        debug_assert!(
            self.pages.len() + self.discards.len() <= ENTRIES_MAX,
            "as many as a block has room for"
        );
        debug_assert!(self.durable < self.sequence, "an extent isn't durable before it is written");
        debug_assert!(self.epoch != NO_EPOCH || !self.is_last, "a renewal is no group: {self:?}");
        fill(block, MAGIC, id, |fields| {
            for number in [self.epoch, self.sequence, self.durable, self.position] {
                fields.u64(number);
            }
            let counts = [self.pages.len(), self.discards.len(), usize::from(self.is_last), 0];
            for count in counts {
                fields.u32(to_u32(count as u64));
            }
            let discards = self.discards.iter().map(|page| (*page, 0));
            for (page, sum) in self.pages.iter().copied().chain(discards) {
                fields.u64(page.0);
                fields.u32(sum);
            }
        });
        self.seal = seal_of(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_log::headers::{is_read_as_it_was_written, is_refused_elsewhere_and_damaged};

    #[test]
    fn a_page_that_the_store_does_not_have_is_noticed() {
        let all = header(3);
        let last = all.discards.iter().map(|page| page.0).max().unwrap();
        assert!(all.is_of_pages(last + 1) && !all.is_of_pages(last));
        assert!(!Header { discards: Vec::new(), ..all }.is_of_pages(14));
    }

    fn header(pages: usize) -> Header {
        Header {
            epoch: 3,
            sequence: 40,
            durable: 38,
            position: 17,
            is_last: true,
            pages: (0xdead..).zip(0..pages).map(|(sum, page)| (PageNumber(page as u64 * 7), sum)).collect(),
            discards: (pages..ENTRIES_MAX).map(|page| PageNumber(page as u64)).collect(),
            seal: 0,
        }
    }

    #[test]
    fn what_was_written_is_read_up_to_a_full_block() {
        is_read_as_it_was_written(ENTRIES_MAX, header, Header::decode);
    }

    #[test]
    fn another_place_another_store_and_damage_are_refused() {
        is_refused_elsewhere_and_damaged(header(9), [24, 72, 180], Header::decode);
    }
}
