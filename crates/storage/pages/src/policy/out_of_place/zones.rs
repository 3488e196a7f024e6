use std::collections::VecDeque;

use super::header::ENTRIES_MAX;
use super::map::Kept;
use super::saved_map::Filled;
use crate::defects::Defect;
use crate::{BLOCK_BYTES, PageNumber};

/// The zones of the area: which are free, which are being filled, and how much of each is alive.
#[derive(Debug)]
pub(super) struct Zones {
    zone_blocks: u64,
    all: Vec<Zone>,
    free: VecDeque<usize>,
    /// The zone that each group fills.
    open: Vec<Option<usize>>,
    /// Zones that are always free: what an opening [writes once more](super::renew) must have a place.
    reserved: usize,
    /// How many were begun since the map was saved.
    begun: u64,
}

/// A zone; blocks are counted from its start.
#[derive(Debug, Clone, Default)]
struct Zone {
    state: State,
    written_blocks: u64,
    /// What was written into it, dead or alive: pages and discards.
    pages: Vec<PageNumber>,
    /// How many of them count.
    alive: u64,
    /// What those take in it.
    alive_bytes: u64,
    /// The greatest sequence in it, or that made something in it dead.
    touched: u64,
    /// The greatest sequence in it.
    newest: u64,
    /// The sequence with which an opening found it begun after the map was saved.
    began: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Free,
    Open,
    Closed,
}

/// Room for an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Block of the area.
    pub(super) position: u64,
    /// Blocks that are left behind the header; a page at least.
    pub(super) blocks: u64,
}

impl Zone {
    fn is_free(&self) -> bool {
        self.state == State::Free
    }

    fn is_dead(&self) -> bool {
        self.alive == 0 || (Defect::LiveZoneFreed.is_seeded() && self.alive == 1)
    }
}

/// The most headers that so many pages need, told apart by so many groups of lifetimes.
pub(super) fn headers_of(pages: u64, groups: u64) -> u64 {
    2 * groups + 2 + pages / ENTRIES_MAX as u64
}

impl Zones {
    pub(super) fn new(zone_blocks: u64, zones: u64, groups: usize, reserved: usize) -> Self {
        let zones = usize::try_from(zones).unwrap_or(usize::MAX);
        Self {
            zone_blocks,
            all: vec![Zone::default(); zones],
            free: (0..zones).collect(),
            open: vec![None; groups],
            reserved,
            begun: 0,
        }
    }

    /// How many zones were begun since the map was saved.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// The map is being saved.
    pub(super) fn begin_to_save(&mut self) {
        self.begun = 0;
    }

    /// The zone that is begun next.
    pub(super) fn next(&self) -> Option<u64> {
        self.free.front().map(|zone| *zone as u64)
    }

    /// How far each zone is filled.
    pub(super) fn filled(&self) -> impl Iterator<Item = Filled> {
        self.all.iter().map(|zone| match zone.state {
            State::Free => Filled::default(),
            State::Open | State::Closed => {
                Filled { newest: zone.newest, written_blocks: zone.written_blocks }
            }
        })
    }

    /// Zones are filled as a saved map says.
    pub(super) fn load(&mut self, filled: &[Filled], saved: u64) {
        for (zone, Filled { newest, written_blocks }) in self.all.iter_mut().zip(filled) {
            *zone =
                Zone { newest: *newest, written_blocks: *written_blocks, touched: saved, ..Zone::default() };
        }
    }

    /// An opening finds an extent at this block: if that is a zone's first, the zone was begun with it.
    pub(super) fn found(&mut self, position: u64, sequence: u64) {
        let index = self.zone_of(position);
        if let Some(zone) = self.all.get_mut(index).filter(|_| position.is_multiple_of(self.zone_blocks)) {
            zone.written_blocks = 0;
            zone.began = sequence;
        }
    }

    /// Whether a page lies where it is said to lie, as far as can be told: not in a zone that was begun later.
    pub(super) fn can_hold(&self, kept: Kept) -> bool {
        self.all.get(self.zone_of(kept.block)).is_some_and(|zone| zone.began <= kept.sequence)
    }

    pub(super) fn groups(&self) -> usize {
        self.open.len()
    }

    /// Headers that what fills a zone may need when it is written anew: two for each group, whose zone may end meanwhile,
    /// and those that are full.
    pub(super) fn headers_blocks(&self) -> u64 {
        self.headers_of(self.zone_blocks)
    }

    fn headers_of(&self, pages: u64) -> u64 {
        headers_of(pages, self.open.len() as u64)
    }

    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    pub(super) fn reserved(&self) -> usize {
        self.reserved
    }

    pub(super) fn zone_of(&self, block: u64) -> usize {
        usize::try_from(block / self.zone_blocks).unwrap_or(usize::MAX)
    }

    /// First block of a zone, and the one behind its last.
    pub(super) fn blocks_of(&self, zone: usize) -> std::ops::Range<u64> {
        let start = zone as u64 * self.zone_blocks;
        start..start + self.zone_blocks
    }

    /// What was written into a zone, dead or alive.
    pub(super) fn pages_of(&self, zone: usize) -> &[PageNumber] {
        self.all.get(zone).map_or(&[], |zone| &zone.pages)
    }

    /// Room for a page, or a few, of a group: in the zone that the group fills, else in a free one, as long as more than
    /// `spared` are free, else wherever there is some.
    pub(super) fn room(&mut self, group: usize, page_blocks: u64, spared: usize) -> Option<Room> {
        if let Some(room) = self.room_of(group, page_blocks) {
            return Some(room);
        }
        if self.free.len() > spared
            && let Some(zone) = self.free.pop_front()
        {
            self.begun += 1;
            if let Some(zone) = self.all.get_mut(zone) {
                *zone = Zone { state: State::Open, ..Zone::default() };
            }
            self.close(group);
            *self.open.get_mut(group)? = Some(zone);
            return self.room_of(group, page_blocks);
        }
        (0..self.open.len()).find_map(|group| self.room_of(group, page_blocks))
    }

    fn room_of(&self, group: usize, page_blocks: u64) -> Option<Room> {
        let zone = (*self.open.get(group)?)?;
        let blocks = self.zone_blocks - self.all.get(zone)?.written_blocks;
        let position = zone as u64 * self.zone_blocks + self.zone_blocks - blocks;
        (blocks > page_blocks).then(|| Room { position, blocks: blocks - 1 })
    }

    fn close(&mut self, group: usize) {
        let zone = self.open.get_mut(group).and_then(Option::take);
        if let Some(zone) = zone.and_then(|zone| self.all.get_mut(zone)) {
            zone.state = State::Closed;
        }
    }

    /// An extent is written up to that block.
    pub(super) fn fill(&mut self, position: u64, end: u64, sequence: u64) {
        let (index, start) = (self.zone_of(position), position / self.zone_blocks * self.zone_blocks);
        if let Some(zone) = self.all.get_mut(index) {
            zone.written_blocks = zone.written_blocks.max(end - start);
            zone.newest = zone.newest.max(sequence);
            zone.touched = zone.touched.max(sequence);
        }
    }

    /// A page, or its discard, that lies in a zone counts from now on.
    pub(super) fn live(&mut self, kept: Kept, page: PageNumber) {
        let index = self.zone_of(kept.block);
        if let Some(zone) = self.all.get_mut(index) {
            zone.alive += 1;
            zone.alive_bytes += u64::from(kept.stored_bytes);
            zone.pages.push(page);
        }
    }

    /// Something was replaced by an extent of that sequence.
    pub(super) fn replaced(&mut self, kept: Kept, sequence: u64) {
        let index = self.zone_of(kept.block);
        if let Some(zone) = self.all.get_mut(index) {
            zone.alive = zone.alive.saturating_sub(1);
            zone.alive_bytes = zone.alive_bytes.saturating_sub(u64::from(kept.stored_bytes));
            zone.touched = zone.touched.max(sequence);
        }
    }

    /// After recovery: what has nothing alive in it is free, if all that made it so is durable, and the zones with the most room are filled further, so that
    /// cleaning that a power cut interrupted can go on.
    pub(super) fn restored(&mut self, durable: u64) {
        for zone in &mut self.all {
            if zone.alive == 0 && zone.touched <= durable {
                *zone = Zone::default();
            } else {
                zone.state = State::Closed;
            }
        }
        let (free, mut rest): (Vec<_>, Vec<_>) =
            (0..self.all.len()).partition(|index| self.all.get(*index).is_some_and(Zone::is_free));
        self.free = free.into();
        rest.sort_by_key(|index| self.all.get(*index).map_or(0, |zone| zone.written_blocks));
        for (open, index) in self.open.iter_mut().zip(rest) {
            let Some(zone) = self.all.get_mut(index) else { continue };
            if zone.written_blocks < self.zone_blocks {
                zone.state = State::Open;
                *open = Some(index);
            }
        }
    }

    /// How many closed zones have nothing alive in them.
    pub(super) fn dead(&self) -> usize {
        self.all.iter().filter(|zone| zone.state == State::Closed && zone.alive == 0).count()
    }

    /// Closed zones in which nothing is alive, as soon as all up to `durable` is durable.
    pub(super) fn dead_zones(&self, durable: u64) -> Vec<usize> {
        let zones = self.all.iter().enumerate();
        let dead = zones
            .filter(|(_, zone)| zone.state == State::Closed && zone.is_dead() && zone.touched <= durable);
        dead.map(|(index, _)| index).collect()
    }

    pub(super) fn release(&mut self, zone: usize) {
        if let Some(entry) = self.all.get_mut(zone) {
            *entry = Zone::default();
            self.free.push_back(zone);
        }
    }

    /// The closed zone whose cleaning pays most, of those that were written before `written`: cost and benefit as in the
    /// log-structured file system (Rosenblum, Ousterhout 1992, §3.5), age in extents.
    pub(super) fn victim(&self, page_blocks: u64, written: u64) -> Option<usize> {
        let merit = |zone: &Zone| {
            let alive = zone.alive_bytes as f64 / (self.zone_blocks * BLOCK_BYTES as u64) as f64;
            let age = (written - zone.newest + 1) as f64;
            (1.0 - alive) * age / (1.0 + alive)
        };
        let zones = self.all.iter().enumerate();
        let candidates = zones.filter(|(_, zone)| {
            let worthwhile = zone.alive > 0 && self.rewritten_blocks(zone, page_blocks) < self.zone_blocks;
            zone.state == State::Closed && worthwhile && zone.newest <= written
        });
        candidates.max_by(|(_, a), (_, b)| merit(a).total_cmp(&merit(b))).map(|(index, _)| index)
    }

    /// The most blocks that what is alive in a zone may take elsewhere. Whatever is compressed, it takes no more extents
    /// and no more blocks than if nothing were; and each extent rounds its pages up to whole blocks.
    fn rewritten_blocks(&self, zone: &Zone, page_blocks: u64) -> u64 {
        let headers = self.headers_of(self.zone_blocks.max(zone.alive));
        let packed = zone.alive_bytes.div_ceil(BLOCK_BYTES as u64) + headers;
        packed.min(zone.alive * page_blocks) + headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_at(block: u64) -> Kept {
        Kept { block, stored_bytes: 4096, sequence: 1 }
    }

    #[test]
    fn compressed_pages_count_by_their_bytes() {
        let mut zones = Zones::new(40, 2, 1, 1);
        zones.room(0, 1, 0);
        zones.fill(0, 40, 1);
        for page in 0..70 {
            zones.live(Kept { stored_bytes: 1024, ..page_at(1 + page / 4) }, PageNumber(page));
        }
        zones.room(0, 1, 0);
        assert_eq!(zones.victim(1, 1), Some(0), "18 blocks are alive");
        for page in 0..17 {
            zones.live(page_at(20 + page), PageNumber(page));
        }
        assert_eq!(zones.victim(1, 1), None, "all are");
    }

    #[test]
    fn groups_fill_zones_of_their_own_and_share_when_space_is_short() {
        let mut zones = Zones::new(10, 3, 2, 1);
        assert_eq!(zones.room(0, 1, 1), Some(Room { position: 0, blocks: 9 }));
        zones.fill(0, 5, 1);
        assert_eq!(zones.room(1, 1, 1), Some(Room { position: 10, blocks: 9 }));
        zones.fill(10, 20, 2);
        assert_eq!(zones.room(1, 1, 1), Some(Room { position: 5, blocks: 4 }), "one zone is spared");
        assert_eq!(zones.room(1, 1, 0), Some(Room { position: 20, blocks: 9 }));
    }

    #[test]
    fn a_zone_is_free_when_its_death_is_durable() {
        let mut zones = Zones::new(10, 3, 1, 1);
        zones.room(0, 1, 0);
        zones.fill(0, 10, 1);
        zones.live(page_at(3), PageNumber(5));
        zones.room(0, 1, 0);
        assert_eq!(zones.victim(1, 1), Some(0));
        assert_eq!(zones.victim(1, 0), None, "it isn't written yet");
        zones.replaced(page_at(3), 7);
        assert!(zones.dead_zones(6).is_empty());
        assert_eq!(zones.dead_zones(7), [0]);
        zones.release(0);
        assert_eq!(zones.free(), 2);
    }
}
