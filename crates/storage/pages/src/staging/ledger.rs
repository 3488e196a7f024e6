//! Ledger: the live slots of the staging area.
//!
//! # Format, version 3 (of the store's label)
//!
//! Eight copies at the places given by the label; generation *g* is written to copy *g* mod 8 (see
//! [`Rotation`](crate::extents::Rotation)). The valid copy with the greatest generation applies;
//! without one the store is damaged. Numbers are little-endian. The length is that of two bitmaps,
//! rounded up to whole blocks.
//!
//! ```text
//!  0  magic        8  "NANDLEPL"
//!  8  id          16  the store's
//! 24  epoch        8  number of the opening
//! 32  generation   7  number of the ledger
//! 39  unconfirmed  1  number of generations since the last one known to be durable when it was written; 0 in
//!                     version 1, with two copies
//! 40  durable      8  sequence up to which the ledger covers the extents
//! 48  blocks       8  of the staging area
//! 56  sums            8  last round of the [checksums of home pages](crate::home_sums); not before version 3
//! 64  headers_seal    4  CRC32C over position (8 bytes) and checksum (4 bytes) of each named header, in the order
//!                        of their positions; not before version 3
//! 68  zeros           4  not before version 3
//! 72  headers         a bit per block: set if an extent with live pages starts here; before version 3 at 56
//!     slots           a bit per block: set if a live page starts here, which belongs to the named extent with
//!                     the greatest sequence that covers the block, as extents may overwrite dead slots
//!     zeros
//! -4  checksum     4  CRC32C of all preceding bytes, at the very end
//! ```
//!
//! Bits are numbered from the lowest of the first byte. A ledger is written after a flush has made
//! the successors of its dead slots durable. Dead slots are reused after another flush has made the
//! ledger durable.

use super::header::Header;
use crate::BLOCK_BYTES;
use crate::extents::Stamp;
use crate::fields::{fields_of, fill};
use crate::label::Label;
use crate::size::to_usize;

const MAGIC: [u8; 8] = *b"NANDLEPL";
const BITS_OFFSET: usize = 72;

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) epoch: u64,
    pub(crate) durable: u64,
    pub(crate) headers: Bits,
    pub(crate) slots: Bits,
    /// Fields from version 3 on.
    pub(crate) bound: Option<Bound>,
}

/// Other structures that the ledger refers to, which detects older copies of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bound {
    /// Last round of the checksums of home pages.
    pub(crate) sums_round: u64,
    /// Checksum of the headers that the ledger names: see [`HeadersSeal`].
    pub(crate) headers_seal: u32,
}

/// Checksum over the headers that a ledger names, in the order of their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HeadersSeal(pub(crate) u32);

impl HeadersSeal {
    pub(crate) fn add(&mut self, position: u64, seal: u32) {
        self.0 = nandle_units::extend_checksum(self.0, &position.to_le_bytes());
        self.0 = nandle_units::extend_checksum(self.0, &seal.to_le_bytes());
    }
}

/// Bitmap of the blocks of the staging area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    blocks: u64,
}

impl Bits {
    pub(crate) fn new(blocks: u64) -> Self {
        Self { bytes: vec![0; bitmap_bytes(blocks)], blocks }
    }

    pub(crate) fn set(&mut self, block: u64) {
        debug_assert!(block < self.blocks, "block {block} of {}", self.blocks);
        if let Some(byte) = self.bytes.get_mut(place(block)) {
            *byte |= 1 << (block % 8);
        }
    }

    pub(crate) fn get(&self, block: u64) -> bool {
        debug_assert!(block < self.blocks, "block {block} of {}", self.blocks);
        let byte = self.bytes.get(place(block));
        byte.is_some_and(|byte| byte & 1 << (block % 8) != 0)
    }

    /// Blocks whose bit is set.
    pub(crate) fn ones(&self) -> impl Iterator<Item = u64> {
        (0..self.blocks).filter(|block| self.get(*block))
    }
}

fn place(block: u64) -> usize {
    to_usize(block / 8)
}

fn bitmap_bytes(blocks: u64) -> usize {
    to_usize(blocks.div_ceil(8))
}

impl Ledger {
    /// Length of a copy in bytes.
    pub(crate) fn bytes(blocks: u64) -> usize {
        (BITS_OFFSET + 2 * bitmap_bytes(blocks) + 4).next_multiple_of(BLOCK_BYTES)
    }

    /// Ledger of a new store, without staged pages.
    pub(crate) fn empty(blocks: u64) -> Self {
        let bits = Bits::new(blocks);
        Self { epoch: 0, durable: 0, headers: bits.clone(), slots: bits, bound: Some(Bound::default()) }
    }

    pub(crate) fn encode(&self, id: u128, stamp: Stamp, into: &mut [u8]) {
        debug_assert_eq!(self.headers.blocks, self.slots.blocks, "both tell of the whole area");
        debug_assert_eq!(into.len(), Self::bytes(self.headers.blocks), "a copy has its length");
        let numbers = [self.epoch, stamped(stamp), self.durable, self.headers.blocks];
        fill(into, MAGIC, id, |fields| {
            for number in numbers {
                fields.u64(number);
            }
            if let Some(Bound { sums_round, headers_seal }) = self.bound {
                fields.u64(sums_round);
                fields.u64(headers_seal.into());
            }
            fields.bytes(&self.headers.bytes);
            fields.bytes(&self.slots.bytes);
        });
    }

    /// Decodes a valid copy of this store's ledger.
    pub(crate) fn decode(id: u128, blocks: u64, is_bound: bool, copy: &[u8]) -> Option<(Stamp, Self)> {
        let mut fields = fields_of(copy, MAGIC, id)?;
        let [epoch, stamped, durable, written_blocks] = [(); 4].map(|()| fields.u64());
        if written_blocks != blocks {
            return None;
        }
        let bound = is_bound.then(|| {
            let sums_round = fields.u64();
            let headers_seal = fields.u32();
            _ = fields.u32();
            Bound { sums_round, headers_seal }
        });
        let (headers, rest) = fields.0.split_at_checked(bitmap_bytes(blocks))?;
        let (slots, _) = rest.split_at_checked(bitmap_bytes(blocks))?;
        let bits = |bytes: &[u8]| Bits { bytes: bytes.to_vec(), blocks };
        let ledger = Self { epoch, durable, headers: bits(headers), slots: bits(slots), bound };
        Some((stamp_of(stamped), ledger))
    }
}

impl Ledger {
    /// Live pages of each extent, in order of sequence. Bits of dead slots overwritten by a newer
    /// extent belong to the newer one.
    pub(super) fn alive_pages(&self, label: &Label, extents: &[Header]) -> Vec<Vec<bool>> {
        let mut overwritten = Bits::new(label.area_blocks());
        let mut found = Vec::with_capacity(extents.len());
        for header in extents.iter().rev() {
            let blocks = (header.position + 1..label.area_blocks()).step_by(to_usize(label.page_blocks()));
            let is_alive = |block| self.slots.get(block) && !overwritten.get(block);
            found.push(blocks.take(header.pages.len()).map(is_alive).collect());
            (header.position..header.end_block(label)).for_each(|block| overwritten.set(block));
        }
        found.reverse();
        debug_assert_eq!(found.len(), extents.len(), "the pages of each extent");
        found
    }
}

const GENERATION_BITS: u32 = 56;

/// Packs the generation into seven bytes and the number of unconfirmed generations into one.
fn stamped(stamp: Stamp) -> u64 {
    debug_assert!(stamp.generation >> GENERATION_BITS == 0 && stamp.unconfirmed <= 0xff, "{stamp:?}");
    stamp.generation | stamp.unconfirmed << GENERATION_BITS
}

fn stamp_of(stamped: u64) -> Stamp {
    let unconfirmed = stamped >> GENERATION_BITS;
    Stamp { generation: stamped - (unconfirmed << GENERATION_BITS), unconfirmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let bound = Some(Bound { sums_round: 12, headers_seal: 0xdead });
        for (blocks, bound) in [(1, bound), (9, bound), (2048, None), (100_003, bound)] {
            let mut ledger = Ledger { epoch: 2, durable: 77, bound, ..Ledger::empty(blocks) };
            let stamp = Stamp { generation: 9, unconfirmed: 2 };
            ledger.headers.set(0);
            ledger.slots.set(blocks - 1);
            let mut copy = vec![3; Ledger::bytes(blocks)];
            ledger.encode(5, stamp, &mut copy);
            let is_bound = bound.is_some();
            assert_eq!(Ledger::decode(5, blocks, is_bound, &copy), Some((stamp, ledger)));
            assert_eq!(Ledger::decode(6, blocks, is_bound, &copy), None);
            copy[60] ^= 1;
            assert_eq!(Ledger::decode(5, blocks, is_bound, &copy), None);
        }
    }

    #[test]
    fn bits_are_told_apart() {
        let mut bits = Bits::new(20);
        for block in [0, 7, 8, 19] {
            bits.set(block);
        }
        assert_eq!(bits.ones().collect::<Vec<_>>(), [0, 7, 8, 19]);
    }
}
