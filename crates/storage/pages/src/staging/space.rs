use std::collections::BTreeMap;

use super::header::ENTRIES_MAX;
use super::ledger::{Bits, HeadersSeal};
use crate::PageError;
use crate::index::{Run, Runs};
use crate::size::to_usize;

/// Allocation of the blocks of the staging area.
#[derive(Debug)]
pub(crate) struct Space {
    blocks: u64,
    page_blocks: u64,
    placement: Placement,
    /// End of the last extent.
    cursor: u64,
    free: Runs,
    extents: BTreeMap<u64, Extent>,
    /// A block claimed by two recovered extents.
    overlap: Option<u64>,
}

/// Placement of extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Front to back, then from the front again; never past a live slot.
    Ring,
    /// In any free run: right behind the last extent if possible, otherwise in the longest run.
    Slots,
}

/// Place of a page in the staging area: position of its extent, and index within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) extent: u64,
    pub(crate) index: usize,
}

impl Slot {
    /// First block of the slot.
    pub(crate) fn block(self, page_blocks: u64) -> u64 {
        self.extent + 1 + self.index as u64 * page_blocks
    }
}

/// Room for an extent: its position and maximum number of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) position: u64,
    pub(crate) pages: usize,
}

const WORDS: usize = ENTRIES_MAX.div_ceil(64);

#[derive(Debug, Clone)]
struct Extent {
    sequence: u64,
    /// Checksum of its header.
    seal: u32,
    pages: usize,
    alive: [u64; WORDS],
}

impl Extent {
    fn is_alive(&self, index: usize) -> bool {
        self.alive.get(index / 64).is_some_and(|word| word & 1 << (index % 64) != 0)
    }

    fn mark(&mut self, index: usize, alive: bool) {
        debug_assert!(index < self.pages, "page {index} of {}", self.pages);
        debug_assert_ne!(self.is_alive(index), alive, "page {index} is born once and dies once");
        if let Some(word) = self.alive.get_mut(index / 64) {
            *word = *word & !(1 << (index % 64)) | u64::from(alive) << (index % 64);
        }
    }
}

/// Contents of a ledger.
pub(crate) struct Told {
    /// First blocks of the extents with live pages.
    pub(crate) headers: Bits,
    pub(crate) slots: Bits,
    pub(crate) headers_seal: u32,
    /// Positions of the extents without live pages.
    pub(crate) empty: Vec<u64>,
}

impl Space {
    /// A free area.
    pub(crate) fn new(blocks: u64, page_blocks: u64, placement: Placement) -> Self {
        debug_assert!(page_blocks > 0 && page_blocks < blocks, "{blocks} blocks have room for a page");
        let mut free = Runs::none_below(blocks);
        free.add(Run { start: 0, length: blocks });
        Self { blocks, page_blocks, placement, cursor: 0, free, extents: BTreeMap::new(), overlap: None }
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Blocks available without waiting: all free ones, or in a ring those directly ahead.
    pub(crate) fn room_blocks(&self) -> u64 {
        match self.placement {
            Placement::Slots => self.free.len(),
            Placement::Ring => self.ahead(self.cursor) + self.ahead_after_wrap(),
        }
    }

    /// Longest run of blocks available without waiting.
    pub(crate) fn longest_room_blocks(&mut self) -> u64 {
        match self.placement {
            Placement::Slots => self.free.longest().map_or(0, |run| run.length),
            Placement::Ring => self.ahead(self.cursor),
        }
    }

    /// Finds room for an extent of `wanted` pages, or of fewer but at least `least`.
    pub(crate) fn find(&mut self, wanted: usize, least: usize) -> Option<Room> {
        debug_assert!(least <= wanted, "{least} pages at least of {wanted}");
        let (most_blocks, least_blocks) = (self.extent_blocks(wanted), self.extent_blocks(least));
        let run = match self.placement {
            Placement::Ring => self.find_ahead(least_blocks),
            Placement::Slots => self.find_anywhere(most_blocks).filter(|run| run.length >= least_blocks),
        }?;
        Some(self.room_in(run, wanted, least))
    }

    /// Finds room anywhere: a ring skips live slots in its way.
    pub(crate) fn find_behind_lost(&mut self, wanted: usize, least: usize) -> Option<Room> {
        let (most_blocks, least_blocks) = (self.extent_blocks(wanted), self.extent_blocks(least));
        let run = self.find_anywhere(most_blocks).filter(|run| run.length >= least_blocks)?;
        Some(self.room_in(run, wanted, least))
    }

    fn room_in(&self, run: Run, wanted: usize, least: usize) -> Room {
        let most_blocks = self.extent_blocks(wanted);
        let pages = run.length.min(most_blocks).saturating_sub(1) / self.page_blocks;
        let room = Room { position: run.start, pages: to_usize(pages) };
        debug_assert!(
            (least..=wanted).contains(&room.pages) && room.position < self.blocks,
            "{room:?} for {least} to {wanted} pages"
        );
        room
    }

    fn find_ahead(&mut self, least_blocks: u64) -> Option<Run> {
        let ahead = self.ahead(self.cursor);
        if ahead >= least_blocks {
            return Some(Run { start: self.cursor, length: ahead });
        }
        let wraps = self.cursor + ahead >= self.blocks && self.ahead(0) >= least_blocks;
        wraps.then(|| Run { start: 0, length: self.ahead(0) })
    }

    fn find_anywhere(&mut self, most_blocks: u64) -> Option<Run> {
        let behind = Run { start: self.cursor, length: self.ahead(self.cursor) };
        if behind.length >= most_blocks {
            return Some(behind);
        }
        self.free.longest()
    }

    /// Number of free blocks from a position on.
    fn ahead(&self, position: u64) -> u64 {
        self.free.containing(position).map_or(0, |run| run.end() - position)
    }

    fn ahead_after_wrap(&self) -> u64 {
        let reaches_end = self.cursor + self.ahead(self.cursor) >= self.blocks;
        let first = if reaches_end { self.ahead(0) } else { 0 };
        if first >= self.blocks { self.cursor } else { first.min(self.cursor) }
    }

    fn extent_blocks(&self, pages: usize) -> u64 {
        1 + pages as u64 * self.page_blocks
    }

    /// Allocates an extent with `pages` live pages, with its sequence and its header's checksum.
    pub(crate) fn occupy(&mut self, position: u64, pages: usize, (sequence, seal): (u64, u32)) {
        debug_assert!(pages <= ENTRIES_MAX && !self.extents.contains_key(&position));
        let mut extent = Extent { sequence, seal, pages, alive: [0; WORDS] };
        (0..pages).for_each(|index| extent.mark(index, true));
        let length = self.extent_blocks(pages);
        debug_assert!(length <= self.ahead(position), "an extent lies on free blocks");
        self.free.remove(Run { start: position, length });
        self.extents.insert(position, extent);
        self.cursor = position + length;
    }

    /// Allocates a recovered extent. Only the blocks of its live pages are taken.
    pub(crate) fn restore(
        &mut self,
        position: u64,
        pages: usize,
        (sequence, seal): (u64, u32),
        is_alive: impl Fn(usize) -> bool,
    ) {
        debug_assert!(
            pages <= ENTRIES_MAX && !self.extents.contains_key(&position),
            "{pages} pages of extent {sequence} at {position}, where there is one"
        );
        let mut extent = Extent { sequence, seal, pages, alive: [0; WORDS] };
        self.take_back(Run { start: position, length: 1 });
        for index in (0..pages).filter(|index| is_alive(*index)) {
            extent.mark(index, true);
            self.take_back(self.page_run(Slot { extent: position, index }));
        }
        self.extents.insert(position, extent);
    }

    fn take_back(&mut self, run: Run) {
        if self.free.containing(run.start).is_some_and(|free| run.end() <= free.end()) {
            self.free.remove(run);
        } else {
            self.overlap.get_or_insert(run.start);
        }
    }

    /// A block claimed by two recovered extents, which no store writes.
    pub(crate) fn overlap(&self) -> Option<u64> {
        self.overlap
    }

    /// Sets the position of the next extent after recovery.
    pub(crate) fn go_on_from(&mut self, cursor: u64) {
        debug_assert!(cursor <= self.blocks, "the area ends at {}, not {cursor}", self.blocks);
        self.cursor = cursor.min(self.blocks);
    }

    fn page_run(&self, slot: Slot) -> Run {
        Run { start: slot.block(self.page_blocks), length: self.page_blocks }
    }

    /// Marks slots dead. [`release`](Space::release) frees their blocks once a ledger that says so
    /// is durable.
    ///
    /// # Errors
    /// A slot is unknown or already dead.
    pub(crate) fn kill(&mut self, dead: &[Slot]) -> Result<(), PageError> {
        for slot in dead {
            let extent = self.extents.get_mut(&slot.extent).filter(|extent| extent.is_alive(slot.index));
            let what = "a slot of the staging area died that wasn't alive";
            extent.ok_or(PageError::Inconsistent { what })?.mark(slot.index, false);
        }
        Ok(())
    }

    /// Contents of a ledger of the extents up to a sequence.
    pub(crate) fn tell(&self, durable: u64) -> Told {
        let (mut headers, mut slots) = (Bits::new(self.blocks), Bits::new(self.blocks));
        let (mut headers_seal, mut empty) = (HeadersSeal::default(), Vec::new());
        for (&position, extent) in self.extents.iter().filter(|(_, extent)| extent.sequence <= durable) {
            if extent.alive == [0; WORDS] {
                empty.push(position);
                continue;
            }
            headers.set(position);
            headers_seal.add(position, extent.seal);
            let alive = (0..extent.pages).filter(|index| extent.is_alive(*index));
            alive.for_each(|index| slots.set(Slot { extent: position, index }.block(self.page_blocks)));
        }
        Told { headers, slots, headers_seal: headers_seal.0, empty }
    }

    /// Returns true if an extent has no live pages.
    pub(crate) fn has_empty(&self) -> bool {
        self.extents.values().any(|extent| extent.alive == [0; WORDS])
    }

    /// Frees the blocks of dead slots and of empty extents.
    pub(crate) fn release(&mut self, dead: &[Slot], empty: &[u64]) {
        debug_assert!(
            dead.iter().all(|slot| self.extents.get(&slot.extent).is_none_or(|it| !it.is_alive(slot.index))),
            "only what is dead is given back"
        );
        let slots = dead.iter().map(|slot| self.page_run(*slot));
        let headers = empty.iter().map(|position| Run { start: *position, length: 1 });
        let mut freed: Vec<Run> = slots.chain(headers).collect();
        freed.sort_unstable_by_key(|run| run.start);
        for neighbours in freed.chunk_by(|one, next| one.end() == next.start) {
            let length = neighbours.iter().map(|run| run.length).sum();
            let Some(Run { start, .. }) = neighbours.first() else { unreachable!("a chunk has a first") };
            self.free.add(Run { length, start: *start });
        }
        for position in empty {
            let extent = self.extents.remove(position);
            debug_assert!(extent.is_some_and(|extent| extent.alive == [0; WORDS]), "nothing in it is alive");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(placement: Placement) -> Space {
        let mut space = Space::new(20, 1, placement);
        for sequence in 1..=4 {
            let room = space.find(4, 4).unwrap();
            space.occupy(room.position, room.pages, (sequence, 0));
        }
        space
    }

    fn free(space: &mut Space, slots: &[(u64, usize)]) {
        let dead: Vec<_> = slots.iter().map(|&(extent, index)| Slot { extent, index }).collect();
        space.kill(&dead).unwrap();
        let Told { empty, .. } = space.tell(u64::MAX);
        space.release(&dead, &empty);
    }

    #[test]
    fn a_ring_never_passes_what_is_alive() {
        let mut space = filled(Placement::Ring);
        assert_eq!(space.find(1, 1), None);
        free(&mut space, &[(5, 0), (5, 1), (5, 2), (5, 3)]);
        assert_eq!(space.find(1, 1), None, "the first extent is alive");
        free(&mut space, &[(0, 0), (0, 1), (0, 2)]);
        assert_eq!(space.find(1, 1), None, "its header is");
        free(&mut space, &[(0, 3)]);
        assert_eq!((space.find(9, 9), space.room_blocks()), (Some(Room { position: 0, pages: 9 }), 10));
        assert_eq!(space.find(10, 10), None);
    }

    #[test]
    fn slots_are_used_again_wherever_they_are() {
        let mut space = filled(Placement::Slots);
        free(&mut space, &[(5, 1), (5, 2), (10, 0)]);
        assert_eq!(space.find(4, 1), Some(Room { position: 7, pages: 1 }));
        assert_eq!(space.find(4, 2), None);
        space.occupy(7, 1, (5, 0));
        assert_eq!(space.find(1, 1), None, "one block is no room for a header and a page");
    }

    #[test]
    fn the_ledger_tells_of_durable_extents_only() {
        let mut space = filled(Placement::Ring);
        space.kill(&[Slot { extent: 0, index: 2 }]).unwrap();
        let Told { headers, slots, empty, .. } = space.tell(2);
        assert_eq!(headers.ones().collect::<Vec<_>>(), [0, 5]);
        assert_eq!(slots.ones().collect::<Vec<_>>(), [1, 2, 4, 6, 7, 8, 9]);
        assert!(empty.is_empty());
    }
}
