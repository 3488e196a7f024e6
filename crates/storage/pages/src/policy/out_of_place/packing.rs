//! Stored form of pages: compressed if that saves at least an eighth, otherwise unchanged.
//!
//! A compressed page is one block of LZ4's block format without a frame; the extent's
//! [header](super::header) stores its length. The checksum is that of the original page, so it also
//! covers decompression.

use std::ops::Range;

use nandle_io::{Arena, Buffer, BufferMut};

use super::header::Entry;
use super::map::Kept;
use crate::disk::Disk;
use crate::label::Label;
use crate::memory::memory_of;
use crate::page::checksum;
use crate::size::{to_u32, to_usize};
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Minimum saving, as 1/`LEAST_SAVING` of a page.
pub(crate) const LEAST_SAVING: usize = 8;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Place of a page, in bytes of the area or of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) start_bytes: u64,
    /// Length of the page, or less if compressed.
    pub(crate) stored_bytes: u32,
}

impl Spot {
    /// First block of the area that it occupies.
    pub(super) fn block(self) -> u64 {
        self.start_bytes / BLOCK
    }

    /// Place in its zone, for an extent with that sequence.
    pub(super) fn kept(self, sequence: u64) -> Kept {
        Kept { block: self.block(), stored_bytes: self.stored_bytes, sequence }
    }

    fn end_bytes(self) -> u64 {
        self.start_bytes + u64::from(self.stored_bytes)
    }

    /// First byte, if the page is stored uncompressed in whole blocks.
    pub(crate) fn start_of_plain(self, page_bytes: u64) -> Option<u64> {
        let is_plain = u64::from(self.stored_bytes) == page_bytes;
        (is_plain && self.start_bytes.is_multiple_of(BLOCK)).then_some(self.start_bytes)
    }

    /// Whole blocks that it touches.
    pub(crate) fn span(self) -> Range<u64> {
        self.block() * BLOCK..self.end_bytes().next_multiple_of(BLOCK)
    }

    /// Its range within its span.
    pub(crate) fn within(self) -> Range<usize> {
        let start = to_usize(self.start_bytes % BLOCK);
        let within = start..start + self.stored_bytes as usize;
        debug_assert!(within.end as u64 <= self.span().end - self.span().start, "{self:?} ends in its span");
        within
    }
}

/// A page to be written in an extent.
#[derive(Debug, Clone)]
pub(super) struct Put {
    pub(super) page: PageNumber,
    /// Original contents.
    pub(super) contents: Buffer,
    pub(super) sum: u32,
    /// Compressed contents, if shorter.
    pub(super) packed: Option<Box<[u8]>>,
}

impl Put {
    /// A page written by a client.
    pub(super) fn new(page: PageNumber, contents: Buffer, compresses: bool) -> Self {
        let sum = checksum(page, &contents);
        let packed = compresses.then(|| pack(&contents)).flatten();
        debug_assert!(
            packed.as_ref().is_none_or(|packed| packed.len() < contents.len()),
            "{page} gets shorter"
        );
        Self { page, contents, sum, packed }
    }

    pub(super) fn entry(&self) -> Entry {
        Entry { page: self.page, sum: self.sum, stored_bytes: self.stored_bytes() }
    }

    pub(super) fn stored_bytes(&self) -> u32 {
        let length = self.packed.as_ref().map_or(self.contents.len(), |packed| packed.len());
        to_u32(length as u64)
    }
}

fn pack(page: &[u8]) -> Option<Box<[u8]>> {
    let packed = lz4_flex::block::compress(page);
    (packed.len() <= page.len() - page.len() / LEAST_SAVING).then(|| packed.into())
}

/// Unpacks a stored page. Invalid contents become zeros, which the checksum reveals.
pub(crate) fn unpack(stored: &[u8], page: &mut [u8]) {
    if stored.len() == page.len() {
        page.copy_from_slice(stored);
    } else if !lz4_flex::block::decompress_into(stored, page).is_ok_and(|length| length == page.len()) {
        page.fill(0);
    }
}

/// Returns true if the stored page matches its entry. `page` is a buffer of a page's length.
pub(super) fn is_whole(entry: &Entry, stored: &[u8], page: &mut [u8]) -> bool {
    debug_assert!(stored.len() <= page.len(), "{} bytes of a page", stored.len());
    unpack(stored, page);
    checksum(entry.page, page) == entry.sum
}

/// A page read back, whose checksum hasn't been compared yet.
pub(super) struct Fetched {
    pub(super) contents: Buffer,
    /// Its compressed form, if compressed.
    pub(super) packed: Option<Buffer>,
}

/// Reads pages in stored form, and unpacks compressed ones.
pub(super) struct PageReader<'a> {
    pub(super) disk: &'a Disk,
    pub(super) label: &'a Label,
    pub(super) arena: &'a Arena,
}

impl PageReader<'_> {
    /// Reads a page into a buffer of its length.
    pub(super) async fn fetch(
        &self,
        what: &'static str,
        spot: Spot,
        mut into: BufferMut,
    ) -> Result<Fetched, PageError> {
        debug_assert_eq!(into.len() as u64, self.label.page_bytes, "a buffer for a page");
        debug_assert!(
            u64::from(spot.stored_bytes) <= self.label.page_bytes,
            "{spot:?} is no longer than a page"
        );
        debug_assert!(self.label.may_have_block(spot.block()), "{spot:?} lies in the area");
        let span = spot.span();
        let offset_bytes = self.label.area_offset + span.start;
        let is_whole = u64::from(spot.stored_bytes) == self.label.page_bytes;
        if spot.start_of_plain(self.label.page_bytes).is_some() {
            let contents = self.disk.read(what, offset_bytes, into).await?;
            return Ok(Fetched { contents, packed: None });
        }
        let length = to_usize(span.end - span.start);
        let blocks = self.disk.read(what, offset_bytes, memory_of(self.arena, length)?).await?;
        let stored = blocks.slice(spot.within());
        unpack(&stored, &mut into);
        Ok(Fetched { contents: into.freeze(), packed: (!is_whole).then_some(stored) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked() {
        let mut page = vec![0; 4096];
        page[..2000].iter_mut().zip(1_u32..).for_each(|(byte, i)| *byte = (i * i % 251) as u8);
        let packed = pack(&page).unwrap();
        assert!(packed.len() < 2500);
        let mut back = vec![9; 4096];
        unpack(&packed, &mut back);
        assert_eq!(back, page);
    }

    #[test]
    fn noise_is_left_as_it_is() {
        let mut word = 1_u64;
        let noise = std::iter::repeat_with(|| {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (word >> 56) as u8
        });
        assert_eq!(pack(&noise.take(4096).collect::<Vec<_>>()), None);
    }

    #[test]
    fn damage_becomes_zeros_and_no_panic() {
        let packed = pack(&[7; 4096]).unwrap();
        for at in 0..packed.len() {
            let mut damaged = packed.to_vec();
            damaged[at] ^= 0xff;
            unpack(&damaged, &mut vec![1; 4096]);
            unpack(&packed[..at], &mut vec![1; 4096]);
        }
    }

    #[test]
    fn a_spot_lies_in_whole_blocks() {
        let spot = Spot { start_bytes: 3 * 4096 + 4000, stored_bytes: 200 };
        assert_eq!((spot.block(), spot.span(), spot.within()), (3, 3 * 4096..5 * 4096, 4000..4200));
        let whole = Spot { start_bytes: 4096, stored_bytes: 8192 };
        assert_eq!((whole.span(), whole.within()), (4096..3 * 4096, 0..8192));
        assert_eq!(whole.start_of_plain(8192), Some(4096));
        let inside = Spot { start_bytes: 4100, stored_bytes: 8192 };
        assert_eq!((spot.start_of_plain(8192), inside.start_of_plain(8192)), (None, None));
    }
}
