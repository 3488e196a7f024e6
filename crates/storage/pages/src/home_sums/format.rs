//! The blocks that keep the checksums of home pages.
//!
//! # Format, from version 3 (of the store's label) on
//!
//! The pages of a store, and those that it may yet get (from version 4 of the label on), are divided into *C* chunks of 1013
//! pages. The area of sums has a ring of 2 *C* log blocks in two halves, and two copies of a table, each a block for each
//! chunk. These four parts begin *S* blocks from each other: *C*, rounded up to 64 KiB from version 5 of the label on, so that
//! no mapping unit of a drive has a part in two of them. Everything is written in rounds, which are counted
//! from 1: round *n* writes log block *n* mod 2 *C* of the ring, and chunk *n* mod *C* of copy (*n* / *C*) mod 2 of the
//! table. Numbers are little-endian.
//!
//! ```text
//!    0  magic      8  "NANDLEPG", in the log          0  magic   8  "NANDLEPT", in the table
//!    8  id        16  the store's                     8  id     16  the store's
//!   24  round      8                                 24  round   8
//!   32  entries    4  so many follow                 32  chunk   8
//!   36  table      4  see below                      40  sums        4 each, of the chunk's pages; 0: unknown
//!   40  entries   12 each: page number 8, sum 4; 0: unknown
//! 4092  checksum   4  CRC32C of all bytes before   4092  checksum   4
//! ```
//!
//! A sum is the CRC32C of a page's number (8 bytes) and its contents. A sum of 0 isn't kept: one page in four thousand
//! million isn't checked.
//!
//! The ledger says which round is the last that counts, *h*. A reader takes each chunk from the last round up to *h* that
//! wrote it, and enters the log blocks of the rounds behind that up to *h*, in their order. Where that chunk is damaged, the
//! one written *C* rounds before does as well: its log blocks are still in the ring. Where a log block is damaged that a
//! chunk needs, what is known of the chunk's pages is lost, and that is an error: it can't be told apart from pages that
//! were never written. What was written in rounds behind *h* counts for nothing.
//!
//! So many pages may be entered at once that their entries don't fit into *C* log blocks. Then all *C* chunks are written,
//! with everything in them, and the log blocks are empty; `table` counts the rounds of this, from 1 on, and is 0 elsewhere.
//! A chunk that was written before the first of them can't be brought up to date.
//!
//! Rounds are written before the flush that precedes the ledger which names them, and only when the ledger before is durable.
//! They are never more than *C*. So what an older ledger needs, if the newer one is lost, is still there.

use crate::fields::{fields_of, fill};
use crate::{BLOCK_BYTES, PageNumber};

const LOG_MAGIC: [u8; 8] = *b"NANDLEPG";
const TABLE_MAGIC: [u8; 8] = *b"NANDLEPT";
/// Of either block: its fields, and the checksum at its end.
const OTHER_BYTES: usize = 40 + 4;
/// Entries that a log block has room for.
pub(super) const ENTRIES_MAX: usize = (BLOCK_BYTES - OTHER_BYTES) / 12;
/// Pages of a chunk.
pub(super) const CHUNK_PAGES: usize = (BLOCK_BYTES - OTHER_BYTES) / 4;

/// A page, and the sum of its contents at home; 0 if it isn't known any more.
pub(crate) type Entry = (PageNumber, u32);

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogBlock {
    pub(super) entries: Vec<Entry>,
    /// Counts the rounds that write the whole table, from 1 on; 0 in any other.
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

    /// The log block of a round, if it is there.
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

/// The sums of a chunk that a round wrote, if they are there.
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
