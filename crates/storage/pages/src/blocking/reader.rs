//! Reads in the caller's thread.
//!
//! A page stored in whole blocks is read directly into the caller's memory. For any other page the
//! surrounding blocks are read into kept memory, and the page is unpacked into the caller's. In
//! both cases the checksum is that of the page.

use std::sync::Arc;

use nandle_io::{Arena, Buffer, BufferMut, DeviceFile};

use super::index::{Found, PageIndex};
use super::lanes::{Lane, Lanes};
use crate::home::Place;
use crate::policy::{Spot, unpack};
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageNumber, Stats};

/// Reads pages whose places the [index](super::index) contains.
pub(super) struct Reader {
    file: Arc<DeviceFile>,
    index: Arc<PageIndex>,
    page_bytes: u64,
    lanes: Lanes,
}

/// Result of a read.
pub(super) enum Outcome {
    Read(Buffer),
    /// Left to the store's thread; returns the unused memory.
    AskOwner(BufferMut),
}

impl Reader {
    pub(super) fn new(file: Arc<DeviceFile>, index: Arc<PageIndex>, page_bytes: usize) -> Self {
        Self { file, index, page_bytes: page_bytes as u64, lanes: Lanes::default() }
    }

    /// Reads a page if it is still at its published place.
    pub(super) fn read(&self, page: PageNumber, into: BufferMut) -> Outcome {
        debug_assert_eq!(into.len() as u64, self.page_bytes, "memory for {page}");
        let Some(era) = self.index.era() else { return Outcome::AskOwner(into) };
        let found = self.index.find(page);
        let lane = self.lanes.of_this_thread();
        let (buffer, is_read) = match found {
            Found::Untouched { offset_bytes } => self.read_whole(lane, offset_bytes, into),
            Found::At(Place { offset_bytes, stored_bytes, .. }) => {
                let spot = Spot { start_bytes: offset_bytes, stored_bytes };
                match spot.start_of_plain(self.page_bytes) {
                    Some(offset_bytes) => self.read_whole(lane, offset_bytes, into),
                    None => self.read_stored(lane, spot, into),
                }
            }
            Found::AskOwner => return Outcome::AskOwner(into),
        };
        if !is_read || !self.index.confirms(era, page, found, &buffer) {
            return Outcome::AskOwner(buffer);
        }
        lane.count_page();
        Outcome::Read(buffer.freeze())
    }

    /// Reads a page stored in whole blocks. Also returns true if the device read succeeded.
    fn read_whole(&self, lane: &Lane, offset_bytes: u64, into: BufferMut) -> (BufferMut, bool) {
        debug_assert!(offset_bytes.is_multiple_of(BLOCK_BYTES as u64), "{offset_bytes} is inside a block");
        lane.count_read(self.page_bytes);
        let (buffer, result) = self.file.read_at(offset_bytes, into);
        (buffer, result.is_ok())
    }

    /// Reads the blocks around a page, and unpacks it. Also returns true if the device read
    /// succeeded.
    fn read_stored(&self, lane: &Lane, spot: Spot, mut into: BufferMut) -> (BufferMut, bool) {
        let Some(mut rest) = lane.take_memory().or_else(|| self.new_memory()) else { return (into, false) };
        let span = spot.span();
        let blocks = rest.split_to(to_usize(span.end - span.start));
        lane.count_read(blocks.len() as u64);
        let (blocks, result) = self.file.read_at(span.start, blocks);
        let stored = result.ok().and_then(|()| blocks.get(spot.within()));
        let is_read = stored.map(|stored| unpack(stored, &mut into)).is_some();
        if let Ok(memory) = blocks.join(rest) {
            lane.keep_memory(memory);
        }
        (into, is_read)
    }

    /// Memory for the blocks around any page; `None` if none is available, which the store's thread
    /// then reports.
    fn new_memory(&self) -> Option<BufferMut> {
        let bytes = to_usize(self.page_bytes) + BLOCK_BYTES;
        Arena::new(bytes).and_then(|arena| arena.allocate(bytes)).ok()
    }

    /// Adds the counts of reads here.
    pub(super) fn count(&self, stats: &mut Stats) {
        self.lanes.count(stats);
    }
}
