//! Tentative placement of extents. A plan that doesn't fit can be dropped and replaced by another.

use super::zones::Zones;

/// Room for an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Block of the area.
    pub(super) position: u64,
    /// Blocks available behind the header, at least those requested.
    pub(super) blocks: u64,
}

/// A zone being filled by a group, with its filled length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    pub(super) zone: usize,
    pub(super) written_blocks: u64,
}

/// Available room.
#[derive(Debug)]
pub(super) struct Rooms<'a> {
    zones: &'a Zones,
    /// Zone that each group fills.
    open: Vec<Option<Filling>>,
    /// Number of free zones taken.
    taken: usize,
    closed: Vec<usize>,
    spared: usize,
}

/// Result of a plan.
#[derive(Debug)]
pub(super) struct Taken {
    /// Zone that each group fills afterwards.
    pub(super) open: Vec<Option<usize>>,
    /// Number of free zones begun.
    pub(super) zones: usize,
    /// Begun zones that are already full.
    pub(super) closed: Vec<usize>,
}

impl<'a> Rooms<'a> {
    /// Starts a plan that leaves `spared` zones free.
    pub(super) fn new(zones: &'a Zones, open: Vec<Option<Filling>>, spared: usize) -> Self {
        Self { zones, open, taken: 0, closed: Vec::new(), spared }
    }

    /// Room for a header and at least one page of a group (with `page_blocks` 0, for the header
    /// alone): in the group's zone, otherwise in a free zone if more than the spared ones are free,
    /// otherwise anywhere.
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

    /// Fills a room up to a block.
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

    /// Zone to begin next.
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
