//! Finds extents written since the map was saved. A zone begun since then has a newer extent at its
//! start, and a zone filled further has one at its recorded end. From there each extent leads to
//! the next. An opening therefore reads one block of each zone, and otherwise only what was
//! written.
//!
//! Sequences increase within a zone; an extent with a smaller one belongs to an older run. Extents
//! behind a gap don't count either, but may prove that the missing ones were durable, so the rest
//! of a zone is searched for them. Each extent also names the zone to begin next, so that a zone
//! with a damaged first header is searched too.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::Arena;
use rustc_hash::FxHashSet;

use super::header::{ENTRIES_MAX, Header};
use super::packing::is_whole;
use super::saved_map::Filled;
use crate::disk::Disk;
use crate::extents::{ChainLink, Link};
use crate::label::Label;
use crate::memory::memory_of;
use crate::readable::ReadableBlocks;
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageError};

/// Memory of all requests together.
const MEMORY_BYTES: usize = 64 << 20;
/// Zones examined concurrently.
const TASKS: usize = 32;
/// Length of a request, unless an extent can be longer.
const PIECE_BLOCKS: u64 = 256;

/// An extent found.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) header: Header,
    /// True if its pages match its header.
    pub(super) is_whole: bool,
}

impl Link for Extent {
    fn link(&self) -> ChainLink {
        self.header.link()
    }
}

/// Extent to which a piece of a zone was parsed.
enum Reached {
    /// To the end of its last whole extent.
    Piece(u64),
    /// To a block where no extent begins.
    Gap(u64),
}

/// Search of the zones.
pub(super) struct Walk {
    disk: Rc<Disk>,
    label: Label,
    zone_blocks: u64,
    /// Sequence up to which the map covers all extents.
    saved: u64,
    /// Filled part of each zone by the map.
    filled: Vec<Filled>,
    piece_blocks: u64,
    next: Cell<usize>,
    /// Zones begun since the map was saved.
    begun: RefCell<FxHashSet<u64>>,
    found: RefCell<BTreeMap<u64, Extent>>,
    /// A header that names pages beyond the label's.
    beyond: Cell<Option<u64>>,
}

impl Walk {
    pub(super) fn new(
        disk: &Rc<Disk>,
        label: &Label,
        zone_blocks: u64,
        saved: u64,
        filled: Vec<Filled>,
    ) -> Self {
        let longest_extent = 1 + ENTRIES_MAX as u64 * label.page_blocks();
        debug_assert!(zone_blocks > 0, "{} zones have a length", filled.len());
        let piece_blocks = PIECE_BLOCKS.max(longest_extent).min(zone_blocks);
        Self {
            disk: Rc::clone(disk),
            label: label.clone(),
            zone_blocks,
            saved,
            filled,
            piece_blocks,
            next: Cell::default(),
            begun: RefCell::default(),
            found: RefCell::default(),
            beyond: Cell::default(),
        }
    }

    /// All extents behind the saved map, by sequence. `next` is the zone to begin next at the time
    /// of the map.
    pub(super) async fn extents(self, next: Option<u64>) -> Result<BTreeMap<u64, Extent>, PageError> {
        let walk = Rc::new(self);
        let piece_bytes = length(walk.piece_blocks);
        let most = (MEMORY_BYTES / piece_bytes).clamp(1, TASKS.min(walk.filled.len().max(1)));
        let mut tasks = Vec::with_capacity(most);
        for _ in 0..most {
            let work = Rc::clone(&walk).work(Arena::new(piece_bytes)?);
            tasks.push(walk.disk.handle().spawn_named("page store: looking for what was written", work));
        }
        for task in tasks {
            task.await?;
        }
        walk.search_announced(next).await?;
        match walk.beyond.get() {
            Some(position) => Err(Label::older_than(walk.label.offset_of(position))),
            None => Ok(walk.found.take()),
        }
    }

    /// Searches zones that were announced to be begun and seem not to have been.
    async fn search_announced(&self, next: Option<u64>) -> Result<(), PageError> {
        let arena = Arena::new(length(self.piece_blocks))?;
        let announced = |walk: &Self| -> Vec<u64> {
            let (found, begun) = (walk.found.borrow(), walk.begun.borrow());
            let announced = found.values().filter_map(|extent| extent.header.next).chain(next);
            let mut missing: Vec<u64> = announced.filter(|zone| !begun.contains(zone)).collect();
            missing.sort_unstable();
            missing.dedup();
            missing
        };
        loop {
            let missing = announced(self);
            let Some(zone) = missing.first().copied() else { return Ok(()) };
            self.begun.borrow_mut().insert(zone);
            let start = zone * self.zone_blocks;
            if usize::try_from(zone).is_ok_and(|zone| zone < self.filled.len()) {
                self.search(&arena, start, start + self.zone_blocks, self.saved).await?;
            }
        }
    }

    /// Processes zones one after the other.
    async fn work(self: Rc<Self>, arena: Arena) -> Result<(), PageError> {
        let next = || {
            let zone = self.next.replace(self.next.get() + 1);
            self.filled.get(zone).map(|filled| (zone as u64 * self.zone_blocks, filled.written_blocks))
        };
        while let Some((start, written_blocks)) = next() {
            let is_begun = {
                let first = self.read(&arena, start, 1).await?;
                self.header_at(start, first.bytes()).is_some_and(|header| header.sequence > self.saved)
            };
            let can_go_on = written_blocks > 0 && written_blocks < self.zone_blocks;
            if is_begun {
                self.begun.borrow_mut().insert(start / self.zone_blocks);
                self.follow(&arena, start, start + self.zone_blocks).await?;
            } else if can_go_on {
                self.follow(&arena, start + written_blocks, start + self.zone_blocks).await?;
            }
        }
        Ok(())
    }

    /// Follows consecutive extents.
    async fn follow(&self, arena: &Arena, mut position: u64, zone_end: u64) -> Result<(), PageError> {
        let mut newest = self.saved;
        loop {
            debug_assert!(position <= zone_end, "block {position} lies before {zone_end}");
            let blocks = self.piece_blocks.min(zone_end - position);
            if blocks == 0 {
                return Ok(());
            }
            let piece = self.read(arena, position, blocks).await?;
            let reached = self.enter_piece(position, zone_end, &mut newest, &piece);
            drop(piece);
            match reached {
                Reached::Piece(end) => {
                    debug_assert!(end > position, "a piece has room for an extent");
                    position = end;
                }
                Reached::Gap(gap) => return self.search(arena, gap, zone_end, newest).await,
            }
        }
    }

    /// Searches for extents behind a gap. These don't count, so their pages aren't checked.
    async fn search(&self, arena: &Arena, gap: u64, zone_end: u64, newest: u64) -> Result<(), PageError> {
        debug_assert!(gap <= zone_end, "block {gap} lies before {zone_end}");
        let mut position = gap;
        while position < zone_end {
            let blocks = self.piece_blocks.min(zone_end - position);
            let piece = self.read(arena, position, blocks).await?;
            let headers = (position..).zip(piece.blocks());
            let headers = headers.filter_map(|(position, block)| self.header_at(position, block?));
            for header in headers.filter(|header| header.sequence > newest) {
                let extent = Extent { is_whole: false, header };
                self.found.borrow_mut().entry(extent.header.sequence).or_insert(extent);
            }
            position += blocks;
        }
        Ok(())
    }

    /// Enters the extents of a piece.
    fn enter_piece(&self, first: u64, zone_end: u64, newest: &mut u64, piece: &ReadableBlocks) -> Reached {
        let mut rest = piece.bytes();
        debug_assert!(rest.len().is_multiple_of(BLOCK_BYTES), "{} bytes are whole blocks", rest.len());
        let mut position = first;
        while !rest.is_empty() {
            let header = self.header_at(position, rest);
            let header = header.filter(|header| header.sequence > *newest && header.end() <= zone_end);
            let Some(header) = header else { return Reached::Gap(position) };
            let end = header.end();
            let Some((extent, behind)) = rest.split_at_checked(length(end - position)) else {
                return if position > first { Reached::Piece(position) } else { Reached::Gap(position) };
            };
            *newest = header.sequence;
            let is_readable = piece.is_readable(to_usize(position - first)..to_usize(end - first));
            let is_whole = is_readable && self.is_whole(&header, extent);
            self.found.borrow_mut().insert(header.sequence, Extent { header, is_whole });
            (position, rest) = (end, behind);
        }
        Reached::Piece(position)
    }

    fn header_at(&self, position: u64, blocks: &[u8]) -> Option<Header> {
        let header =
            Header::decode(self.label.id, self.label.page_bytes, position, blocks.get(..BLOCK_BYTES)?);
        // A page is written only after a label with it is durable.
        if header.as_ref().is_some_and(|header| !header.is_of_pages(self.label.pages)) {
            self.beyond.set(Some(position));
            return None;
        }
        header
    }

    fn is_whole(&self, header: &Header, extent: &[u8]) -> bool {
        let mut page = vec![0; self.label.page_length()];
        let Some(mut rest) = extent.get(BLOCK_BYTES..) else { unreachable!("an extent has a header") };
        header.pages.iter().all(|entry| {
            let Some((stored, behind)) = rest.split_at_checked(entry.stored_bytes as usize) else {
                return false;
            };
            rest = behind;
            is_whole(entry, stored, &mut page)
        })
    }

    async fn read(&self, arena: &Arena, block: u64, blocks: u64) -> Result<ReadableBlocks, PageError> {
        let into = memory_of(arena, length(blocks))?;
        self.disk.read_blocks("looking for what was written", self.label.offset_of(block), into).await
    }
}

fn length(blocks: u64) -> usize {
    to_usize(blocks) * BLOCK_BYTES
}
