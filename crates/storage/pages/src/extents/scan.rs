use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::Arena;

use super::rotation::{Rotation, Stamp};
use crate::defects::Defect;
use crate::disk::Disk;
use crate::label::Label;
use crate::memory::memory_of;
use crate::readable::ReadableBlocks;
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageError};

const SCAN_BYTES: u64 = 1 << 20;

/// Reader of a store's ledgers and extents for an opening.
pub(crate) struct Scan<'a> {
    pub(crate) disk: &'a Rc<Disk>,
    pub(crate) label: &'a Label,
    pub(crate) arena: Arena,
}

/// Structure that describes an extent.
pub(crate) trait Link {
    fn link(&self) -> ChainLink;
}

/// Place of an extent in the chain and in the area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainLink {
    pub(crate) sequence: u64,
    /// Sequence up to which everything was durable when it was written.
    pub(crate) durable: u64,
    /// True if it ends a group.
    pub(crate) is_last: bool,
    /// Block of the area.
    pub(crate) position: u64,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(disk: &'a Rc<Disk>, label: &'a Label) -> Result<Self, PageError> {
        let bytes = SCAN_BYTES.max(label.ledger_bytes).max(label.page_bytes);
        let arena = Arena::new(to_usize(bytes))?;
        Ok(Self { disk, label, arena })
    }

    pub(crate) fn corrupt(&self, what: &'static str, block: u64) -> PageError {
        PageError::Corrupt { what, offset_bytes: self.label.offset_of(block) }
    }

    /// Reads all readable blocks.
    pub(crate) async fn read(&self, offset_bytes: u64, bytes: u64) -> Result<ReadableBlocks, PageError> {
        let into = memory_of(&self.arena, to_usize(bytes))?;
        self.disk.read_blocks("recovering the store", offset_bytes, into).await
    }

    /// Newest valid ledger, and the rotation after it. An unreadable copy counts as invalid.
    pub(crate) async fn ledger<L>(
        &self,
        decode: impl Fn(&[u8]) -> Option<(Stamp, L)>,
    ) -> Result<(L, Rotation), PageError> {
        let mut newest: Option<(Stamp, L)> = None;
        for copy in 0..self.label.ledger_copies {
            let bytes = self.read(self.label.ledger_at(copy), self.label.ledger_bytes).await?;
            let found = bytes.whole().and_then(&decode);
            newest = newest.into_iter().chain(found).max_by_key(|(stamp, _)| stamp.generation);
        }
        let newest = newest.map(|(stamp, ledger)| (ledger, Rotation::after(self.label.ledger_copies, stamp)));
        newest.ok_or(PageError::Corrupt {
            what: "all copies of the ledger are damaged",
            offset_bytes: self.label.ledger_offset,
        })
    }

    /// All valid headers of the area, in the order of their positions.
    pub(crate) async fn headers<H>(
        &self,
        decode: impl Fn(u64, &[u8]) -> Option<H>,
    ) -> Result<Vec<H>, PageError> {
        let mut headers = Vec::new();
        let mut done_bytes = 0;
        while done_bytes < self.label.area_bytes {
            let length = (self.label.area_bytes - done_bytes).min(SCAN_BYTES);
            debug_assert!(length.is_multiple_of(BLOCK_BYTES as u64), "headers have whole blocks: {length}");
            let bytes = self.read(self.label.area_offset + done_bytes, length).await?;
            let blocks = (done_bytes / BLOCK_BYTES as u64..).zip(bytes.blocks());
            headers.extend(blocks.filter_map(|(position, block)| decode(position, block?)));
            done_bytes += length;
        }
        debug_assert_eq!(
            done_bytes, self.label.area_bytes,
            "all of the area was looked at, and nothing else"
        );
        Ok(headers)
    }

    /// Follows the chain by sequence, starting behind `durable`. Durable extents count even if
    /// damaged, as damage is detected per page. Later ones count only if complete. `closed` is the
    /// last sequence of a closed store.
    pub(crate) async fn follow<H: Link>(
        &self,
        (durable, closed): (u64, Option<u64>),
        chain: &BTreeMap<u64, H>,
        is_whole: impl AsyncFn(&H) -> Result<bool, PageError>,
    ) -> Result<Followed, PageError> {
        let promised =
            chain.values().map(|header| header.link().durable).chain(closed).fold(durable, u64::max);
        let mut end = durable;
        for (expected, (sequence, header)) in (durable + 1..).zip(chain.range(durable + 1..)) {
            let is_gap = *sequence != expected && !Defect::GapsAccepted.is_seeded();
            debug_assert_eq!(header.link().sequence, *sequence, "the chain is ordered by its own sequences");
            if is_gap {
                break;
            }
            let counts = *sequence <= promised || is_whole(header).await?;
            if !(counts || Defect::PagesUnchecked.is_seeded()) {
                break;
            }
            if header.link().is_last || Defect::HalfGroups.is_seeded() {
                end = *sequence;
            }
        }
        if end < promised {
            let what = "an extent that was durable is missing, and its pages were acknowledged";
            return Err(self.corrupt(what, chain.get(&(end + 1)).map_or(0, |header| header.link().position)));
        }
        debug_assert!(
            durable <= promised && promised <= end,
            "{durable} is durable, {promised} was, {end} is there"
        );
        Ok(Followed { promised, end })
    }
}

/// Extent of the valid chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Followed {
    /// Sequence up to which everything is known to be durable from later writes.
    pub(crate) promised: u64,
    /// End of the last complete group.
    pub(crate) end: u64,
}
