//! Mark of a clean close: the end of the staging area's contents.
//!
//! # Format, from version 3 (of the store's label) on
//!
//! Two copies, at the places given by the [label](crate::label). Both are written at the close,
//! when everything accepted is durable. Numbers are little-endian. Earlier programs wrote 0 to the
//! fields behind `sequence`, and ignore them.
//!
//! ```text
//!    0  magic       8  "NANDLEPC"
//!    8  id         16  the store's
//!   24  generation  8  of the newest ledger
//!   32  sequence    8  of the last extent
//!   40  is_doubled  8  1: the previous ledger equals the newest; 0 otherwise
//!   48  complete    8  one more than the last round of home pages' checksums with entries, if every chunk was
//!                      rewritten since; 0 otherwise
//!   56  directory   8  first block of the [directory](super::directory), among those reserved by the
//!                      [label](crate::label); before version 5 in the staging area
//!   64  blocks      8  of the directory; 0 without one
//!   72  pages       8  of the store; 0 from earlier programs
//!   80  zeros
//! 4092  checksum    4  CRC32C of all preceding bytes
//! ```
//!
//! Every opening for writing begins with a ledger of its own. A mark is therefore valid until a
//! newer ledger exists. With a valid mark, its ledger and extent must be the last ones found;
//! otherwise they are damaged. The newer of two different copies applies. One copy of a doubled
//! ledger may be missing. Without a valid mark the store is recovered as after a power cut: the
//! last writes may never have completed, so their absence isn't damage.

use std::cmp::Ordering;

use super::directory::DirectoryPlace;
use crate::extents::Scan;
use crate::fields::{fields_of, fill};
use crate::label::Label;
use crate::memory::memory_of;
use crate::write_log::Context;
use crate::{BLOCK_BYTES, PageError};

const MAGIC: [u8; 8] = *b"NANDLEPC";

/// See the [format](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) generation: u64,
    pub(super) sequence: u64,
    pub(super) is_doubled: bool,
    /// Last round of checksums before every chunk was rewritten. Later rounds have no entries.
    pub(super) complete_after: Option<u64>,
    pub(super) directory: Option<DirectoryPlace>,
    /// Number of pages of the store.
    pub(super) pages: u64,
}

/// Relation of a mark to the newest ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The store was opened again later.
    Outdated,
    /// The ledger is that of the close.
    Counts,
    /// The ledger of the close is lost.
    LedgerLost,
}

impl Mark {
    /// Compares the mark with the newest ledger.
    pub(super) fn standing(&self, generation: u64) -> Standing {
        match self.generation.cmp(&generation) {
            Ordering::Less => Standing::Outdated,
            Ordering::Equal => Standing::Counts,
            Ordering::Greater if self.is_doubled && self.generation == generation + 1 => Standing::Counts,
            Ordering::Greater => Standing::LedgerLost,
        }
    }

    fn encode(self, id: u128, block: &mut [u8]) {
        debug_assert!(self.generation > 0, "an opening writes a ledger before it can be closed: {self:?}");
        fill(block, MAGIC, id, |fields| {
            fields.u64(self.generation);
            fields.u64(self.sequence);
            fields.u64(u64::from(self.is_doubled));
            fields.u64(self.complete_after.map_or(0, |round| round + 1));
            let place = self.directory.unwrap_or(DirectoryPlace { block: 0, blocks: 0 });
            fields.u64(place.block);
            fields.u64(place.blocks);
            fields.u64(self.pages);
        });
    }

    pub(super) fn decode(id: u128, block: &[u8]) -> Option<Self> {
        let mut fields = fields_of(block, MAGIC, id)?;
        let [generation, sequence, is_doubled, complete, block, blocks, pages] =
            [(); 7].map(|()| fields.u64());
        let complete_after = complete.checked_sub(1);
        let directory = (blocks > 0).then_some(DirectoryPlace { block, blocks });
        Some(Self { generation, sequence, is_doubled: is_doubled == 1, complete_after, directory, pages })
    }

    /// Writes the mark durably. Does nothing in versions without marks.
    pub(super) async fn persist(self, context: &Context) -> Result<(), PageError> {
        let Context { disk, label, arena, .. } = context;
        if !label.has_close_marks() {
            return Ok(());
        }
        let mut block = memory_of(arena, BLOCK_BYTES)?;
        self.encode(label.id, &mut block);
        let block = block.freeze();
        let write = |place| {
            let from = [block.clone()].into_iter().collect();
            disk.write("marking the store as closed", place, from)
        };
        let mut result = Ok(());
        for writing in label.mark_places().map(write).collect::<Vec<_>>() {
            result = result.and(writing.await);
        }
        result?;
        disk.flush().await
    }

    /// Reads the mark. Returns it if it is valid for the newest ledger.
    pub(super) async fn found(scan: &Scan<'_>, generation: u64) -> Result<Option<Self>, PageError> {
        let mut newest: Option<(Self, u64)> = None;
        for place in scan.label.mark_places() {
            let block = scan.read(place, BLOCK_BYTES as u64).await?;
            let found = block.whole().and_then(|block| Self::decode(scan.label.id, block));
            newest = newest.into_iter().chain(found.map(|mark| (mark, place))).max();
        }
        let Some((mark, offset_bytes)) = newest else { return Ok(None) };
        if mark.pages > scan.label.pages {
            return Err(Label::older_than(offset_bytes));
        }
        match mark.standing(generation) {
            Standing::Outdated => Ok(None),
            Standing::Counts => Ok(Some(mark)),
            Standing::LedgerLost => {
                let what = "the store was closed, and its newest ledger is damaged";
                Err(PageError::Corrupt { what, offset_bytes: scan.label.ledger_offset })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_damage_is_not() {
        let directory = Some(DirectoryPlace { block: 4, blocks: 2 });
        let mark = Mark {
            generation: 5,
            sequence: 77,
            is_doubled: true,
            complete_after: Some(0),
            directory,
            pages: 9,
        };
        let mut block = vec![1; BLOCK_BYTES];
        mark.encode(3, &mut block);
        assert_eq!((Mark::decode(3, &block), Mark::decode(4, &block)), (Some(mark), None));
        block[30] ^= 4;
        assert_eq!(Mark::decode(3, &block), None);
    }
}
