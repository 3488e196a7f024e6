//! Where the next extents will lie, before any of it is taken: what doesn't fit one way can be tried another.

use super::zones::Zones;

/// Room for an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Block of the area.
    pub(super) position: u64,
    /// Blocks that are left behind the header; what was asked for at least.
    pub(super) blocks: u64,
}

/// A zone that a group fills, and how far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    pub(super) zone: usize,
    pub(super) written_blocks: u64,
}

/// The room that there is.
#[derive(Debug)]
pub(super) struct Rooms<'a> {
    zones: &'a Zones,
    /// The zone that each group fills.
    open: Vec<Option<Filling>>,
    /// So many of the free zones are taken.
    taken: usize,
    closed: Vec<usize>,
    spared: usize,
}

/// What was taken of it.
#[derive(Debug)]
pub(super) struct Taken {
    /// The zone that each group fills from now on.
    pub(super) open: Vec<Option<usize>>,
    /// Free zones that were begun.
    pub(super) zones: usize,
    /// Those of them that are full already.
    pub(super) closed: Vec<usize>,
}

impl<'a> Rooms<'a> {
    /// Nothing is taken yet, and `spared` zones stay free.
    pub(super) fn new(zones: &'a Zones, open: Vec<Option<Filling>>, spared: usize) -> Self {
        Self { zones, open, taken: 0, closed: Vec::new(), spared }
    }

    /// Room for the header of an extent and a page, or a few, of a group (or, with `page_blocks` 0, for the header alone): in the zone that the group fills, else in a free one, as long as more than
    /// those that are spared are free, else wherever there is some.
    pub(super) fn room(&mut self, group: usize, page_blocks: u64) -> Option<Room> {
        debug_assert!(group < self.open.len(), "group {group} of {}", self.open.len());
        if let Some(room) = self.room_of(group, page_blocks) {
            return Some(room);
        }
        if self.zones.free() > self.spared + self.taken
            && let Some(zone) = self.zones.nth_free(self.taken)
        {
            self.taken += 1;
            let before = self.open.get_mut(group)?.replace(Filling { zone, written_blocks: 0 });
            self.closed.extend(before.map(|filling| filling.zone));
            return self.room_of(group, page_blocks);
        }
        (0..self.open.len()).find_map(|group| self.room_of(group, page_blocks))
    }

    fn room_of(&self, group: usize, page_blocks: u64) -> Option<Room> {
        let Filling { zone, written_blocks } = (*self.open.get(group)?)?;
        let zone_blocks = self.zones.zone_blocks();
        debug_assert!(written_blocks <= zone_blocks, "zone {zone} is filled up to {written_blocks}");
        let blocks = zone_blocks - written_blocks;
        let position = zone as u64 * zone_blocks + written_blocks;
        (blocks > page_blocks).then(|| Room { position, blocks: blocks - 1 })
    }

    /// An extent will fill a room up to that block.
    pub(super) fn fill(&mut self, end: u64) {
        let zone = self.zones.zone_of(end - 1);
        let filling = self.open.iter_mut().flatten().find(|filling| filling.zone == zone);
        debug_assert!(filling.is_some(), "an extent lies in a zone that is being filled");
        if let Some(filling) = filling {
            debug_assert!(
                filling.written_blocks < end - zone as u64 * self.zones.zone_blocks(),
                "{filling:?}"
            );
            filling.written_blocks = end - zone as u64 * self.zones.zone_blocks();
        }
    }

    /// The zone that is begun next.
    pub(super) fn next(&self) -> Option<u64> {
        self.zones.nth_free(self.taken).map(|zone| zone as u64)
    }

    pub(super) fn taken(self) -> Taken {
        debug_assert!(self.taken <= self.zones.free(), "{} of {} zones", self.taken, self.zones.free());
        let open = self.open.into_iter().map(|filling| filling.map(|filling| filling.zone)).collect();
        let taken = Taken { open, zones: self.taken, closed: self.closed };
        debug_assert!(
            taken.closed.iter().all(|zone| !taken.open.contains(&Some(*zone))),
            "no group fills a zone that is closed: {taken:?}"
        );
        taken
    }
}
