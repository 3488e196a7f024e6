//! Blocks with the checksums of home pages.
//!
//! # Format, from version 3 (of the store's label) on
//!
//! The pages of a store, including those reserved for growth (from version 4 of the label on), are
//! divided into *C* chunks of 1013 pages. The area of sums has a ring of 2 *C* log blocks in two
//! halves, and two copies of a table with a block per chunk. These four parts begin *S* blocks from
//! each other: *C*, rounded up to 64 KiB from version 5 of the label on, so that no mapping unit
//! holds parts of two. Everything is written in rounds, counted from 1: round *n* writes log block
//! *n* mod 2 *C* of the ring, and chunk *n* mod *C* of copy (*n* / *C*) mod 2 of the table. Numbers
//! are little-endian.
//!
//! ```text
//!    0  magic      8  "NANDLEPG", in the log          0  magic   8  "NANDLEPT", in the table
//!    8  id        16  the store's                     8  id     16  the store's
//!   24  round      8                                 24  round   8
//!   32  entries    4  number of entries              32  chunk   8
//!   36  table      4  see below                      40  sums        4 each, of the chunk's pages; 0: unknown
//!   40  entries   12 each: page number 8, sum 4; 0: unknown
//! 4092  checksum   4  CRC32C of all bytes before   4092  checksum   4
//! ```
//!
//! A sum is the CRC32C of a page's number (8 bytes) and its contents. A sum of 0 isn't stored, so
//! one page in 2³² isn't checked.
//!
//! The ledger records the last valid round *h*. A reader takes each chunk from the last round up to
//! *h* that wrote it, and then enters the log blocks of later rounds up to *h*, in order. If that
//! chunk is damaged, the copy written *C* rounds before serves as well, as its log blocks are still
//! in the ring. If a log block needed by a chunk is damaged, the sums of the chunk's pages are
//! lost. That is an error, as such pages look like unwritten ones. Rounds behind *h* are ignored.
//!
//! The entries of one call may not fit *C* log blocks. Then all *C* chunks are written with all
//! sums, and the log blocks are empty; `table` counts these rounds from 1, and is 0 elsewhere. A
//! chunk written before the first of them can't be brought up to date.
//!
//! Rounds are written before the flush that precedes the ledger naming them, and only once the
//! previous ledger is durable. There are at most *C* of them. The data that an older ledger needs
//! is therefore present if the newer one is lost.

use crate::fields::{fields_of, fill};
use crate::{BLOCK_BYTES, PageNumber};

const LOG_MAGIC: [u8; 8] = *b"NANDLEPG";
const TABLE_MAGIC: [u8; 8] = *b"NANDLEPT";
/// Length of the fields and the checksum in either block.
const OTHER_BYTES: usize = 40 + 4;
/// Maximum entries of a log block.
pub(super) const ENTRIES_MAX: usize = (BLOCK_BYTES - OTHER_BYTES) / 12;
/// Pages per chunk.
pub(super) const CHUNK_PAGES: usize = (BLOCK_BYTES - OTHER_BYTES) / 4;

/// A page with the sum of its home contents; 0 if unknown.
pub(crate) type Entry = (PageNumber, u32);

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogBlock {
    pub(super) entries: Vec<Entry>,
    /// Counts the rounds that write the whole table, from 1; 0 in other rounds.
    pub(super) table: u32,
}

impl LogBlock {
    pub(super) fn encode(&self, id: u128, round: u64, block: &mut [u8]) {
        assert!(self.entries.len() <= ENTRIES_MAX, "a block has room for {} entries", self.entries.len());
        fill(block, LOG_MAGIC, id, |fields| {
            fields.u64(round);
            fields.u32(
                u32::try_from(self.entries.len()).unwrap_or_else(|_| unreachable!("a block has few entries")),
            );
            fields.u32(self.table);
            for (page, sum) in &self.entries {
                fields.u64(page.0);
                fields.u32(*sum);
            }
        });
    }

    /// Decodes the valid log block of a round.
    pub(super) fn decode(id: u128, round: u64, block: &[u8]) -> Option<Self> {
        let mut fields = fields_of(block, LOG_MAGIC, id)?;
        let (written_in, entries, table) = (fields.u64(), fields.u32() as usize, fields.u32());
        if written_in != round || entries > ENTRIES_MAX {
            return None;
        }
        let entries = (0..entries).map(|_| (PageNumber(fields.u64()), fields.u32())).collect();
        Some(Self { entries, table })
    }
}

pub(super) fn encode_chunk(id: u128, round: u64, chunk: u64, sums: &[u32], block: &mut [u8]) {
    assert_eq!(sums.len(), CHUNK_PAGES, "the sums of a chunk");
    fill(block, TABLE_MAGIC, id, |fields| {
        fields.u64(round);
        fields.u64(chunk);
        for sum in sums {
            fields.u32(*sum);
        }
    });
}

/// Decodes the valid chunk written by a round.
pub(super) fn decode_chunk(id: u128, round: u64, chunk: u64, block: &[u8]) -> Option<Vec<u32>> {
    let mut fields = fields_of(block, TABLE_MAGIC, id)?;
    let is_it = (fields.u64(), fields.u64()) == (round, chunk);
    is_it.then(|| (0..CHUNK_PAGES).map(|_| fields.u32()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let mut block = vec![0; BLOCK_BYTES];
        let entries = (0..ENTRIES_MAX).map(|page| (PageNumber(page as u64), 0xdead_0000)).collect();
        let log = LogBlock { entries, table: 3 };
        log.encode(5, 17, &mut block);
        assert_eq!(LogBlock::decode(5, 17, &block), Some(log));
        assert_eq!((LogBlock::decode(6, 17, &block), LogBlock::decode(5, 18, &block)), (None, None));
        assert_eq!(decode_chunk(5, 17, 3, &block), None);
        let sums: Vec<u32> = (7..).take(CHUNK_PAGES).collect();
        encode_chunk(5, 17, 3, &sums, &mut block);
        assert_eq!(decode_chunk(5, 17, 3, &block), Some(sums));
        assert_eq!(decode_chunk(5, 17, 4, &block), None);
        block[2000] ^= 1;
        assert_eq!(decode_chunk(5, 17, 3, &block), None);
    }
}
