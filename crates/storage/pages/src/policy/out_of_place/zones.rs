mod victim;

use std::collections::VecDeque;

use super::capacity;
use super::header::{Entry, Header};
use super::map::{Kept, Map, PagePlace};
use super::rooms::{Filling, Rooms, Taken};
use super::saved_map::{Filled, Loaded};
use crate::PageNumber;
use crate::defects::Defect;
use crate::size::to_usize;

/// Zones of the area, with their states and live contents.
#[derive(Debug)]
pub(super) struct Zones {
    zone_blocks: u64,
    all: Vec<Zone>,
    free: VecDeque<usize>,
    /// Zone that each group fills.
    open: Vec<Option<usize>>,
    /// Number of zones always kept free for a [renewal](super::renew).
    kept_for_renewal: usize,
    /// Number of zones begun since the map was saved.
    begun: u64,
}

/// A zone. Blocks are counted from its start.
#[derive(Debug, Clone, Default)]
struct Zone {
    state: ZoneState,
    written_blocks: u64,
    /// Pages and discards written to it, dead or live.
    pages: Vec<PageNumber>,
    /// Number of live ones.
    alive: u64,
    /// Number of live discards.
    alive_discards: u64,
    /// Bytes of live pages.
    alive_bytes: u64,
    /// Greatest sequence in it, or of an extent that superseded something in it.
    touched: u64,
    /// Greatest sequence in it.
    newest: u64,
    /// Sequence of its first extent, if an opening found it begun after the map was saved.
    began: u64,
    /// True if a page in it is unreadable, so that cleaning can't empty it.
    has_lost: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ZoneState {
    #[default]
    Free,
    Open,
    Closed,
}

impl Zone {
    fn is_free(&self) -> bool {
        self.state == ZoneState::Free
    }

    fn is_dead(&self) -> bool {
        self.alive == 0 || (Defect::LiveZoneFreed.is_seeded() && self.alive == 1)
    }
}

impl Zones {
    pub(super) fn new(zone_blocks: u64, zones: u64, groups: usize, kept_for_renewal: usize) -> Self {
        let zones = to_usize(zones);
        debug_assert!(zone_blocks > 0 && groups > 0, "{groups} groups in zones of {zone_blocks} blocks");
        Self {
            zone_blocks,
            all: vec![Zone::default(); zones],
            free: (0..zones).collect(),
            open: vec![None; groups],
            kept_for_renewal,
            begun: 0,
        }
    }

    /// Extends the number of zones to at least `zones`. New zones are begun after all that are
    /// free.
    pub(super) fn grow(&mut self, zones: u64) {
        let before = self.all.len();
        self.all.resize(to_usize(zones).max(before), Zone::default());
        self.free.extend(before..self.all.len());
        if Defect::ZonesTooEarly.is_seeded() {
            self.free.rotate_right(self.all.len() - before);
        }
    }

    /// Number of zones begun since the map was saved.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Resets that number when a map is being saved.
    pub(super) fn begin_to_save(&mut self) {
        self.begun = 0;
    }

    pub(super) fn zone_blocks(&self) -> u64 {
        self.zone_blocks
    }

    /// Free zones in the order in which they are begun.
    pub(super) fn nth_free(&self, nth: usize) -> Option<usize> {
        self.free.get(nth).copied()
    }

    /// Zone to begin next.
    pub(super) fn next(&self) -> Option<u64> {
        self.nth_free(0).map(|zone| zone as u64)
    }

    /// Blocks where the next extents may begin: the ends of the zones with the most room, and the
    /// start of the next zone.
    pub(super) fn next_blocks(&self, groups: usize) -> Vec<u64> {
        let filled = self.all.iter().zip(0..).filter(|(zone, _)| !zone.is_free());
        let mut ends: Vec<(u64, u64)> = filled.map(|(zone, index)| (zone.written_blocks, index)).collect();
        ends.retain(|(written_blocks, _)| *written_blocks < self.zone_blocks);
        ends.sort_unstable();
        let ends = ends.into_iter().take(groups).map(|(written, index)| index * self.zone_blocks + written);
        ends.chain(self.next().map(|zone| zone * self.zone_blocks)).collect()
    }

    /// Filled part of each zone.
    pub(super) fn filled(&self) -> impl Iterator<Item = Filled> {
        self.all.iter().map(|zone| match zone.state {
            ZoneState::Free => Filled::default(),
            ZoneState::Open | ZoneState::Closed => {
                Filled { newest: zone.newest, written_blocks: zone.written_blocks }
            }
        })
    }

    /// Loads the state of the zones from a saved map, which covers sequences up to `saved`.
    pub(super) fn load(&mut self, loaded: Loaded, saved: u64) -> Map {
        let Loaded { map, zones, .. } = loaded;
        debug_assert_eq!(zones.len(), self.all.len(), "a saved map tells of each zone");
        for (zone, Filled { newest, written_blocks }) in self.all.iter_mut().zip(&zones) {
            *zone =
                Zone { newest: *newest, written_blocks: *written_blocks, touched: saved, ..Zone::default() };
        }
        for (page, place) in (0..).map(PageNumber).zip(map.places()) {
            if let Some(kept) = place.kept() {
                self.live(kept, page);
            }
        }
        map
    }

    /// Records a recovered extent. If it is the first in its zone, the zone was begun with it.
    pub(super) fn found(&mut self, position: u64, sequence: u64) {
        let index = self.zone_of(position);
        if let Some(zone) = self.all.get_mut(index).filter(|_| position.is_multiple_of(self.zone_blocks)) {
            zone.written_blocks = 0;
            zone.began = sequence;
        }
    }

    /// Returns false if the page's zone was begun later than the page was written.
    pub(super) fn can_hold(&self, kept: Kept) -> bool {
        self.all.get(self.zone_of(kept.block)).is_some_and(|zone| zone.began <= kept.sequence)
    }

    pub(super) fn groups(&self) -> usize {
        self.open.len()
    }

    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Number of zones that cleaning leaves free.
    pub(super) fn reserved(&self) -> usize {
        capacity::reserved(self.kept_for_renewal)
    }

    /// Number of zones reserved for a renewal.
    pub(super) fn kept_for_renewal(&self) -> usize {
        self.kept_for_renewal
    }

    pub(super) fn zone_of(&self, block: u64) -> usize {
        to_usize(block / self.zone_blocks)
    }

    /// Block range of a zone.
    pub(super) fn blocks_of(&self, zone: usize) -> std::ops::Range<u64> {
        debug_assert!(zone < self.all.len(), "zone {zone} of {}", self.all.len());
        let start = zone as u64 * self.zone_blocks;
        start..start + self.zone_blocks
    }

    /// Pages written to a zone, dead or live.
    pub(super) fn pages_of(&self, zone: usize) -> &[PageNumber] {
        debug_assert!(zone < self.all.len(), "zone {zone} of {}", self.all.len());
        self.all.get(zone).map_or(&[], |zone| &zone.pages)
    }

    /// Starts a plan for extents that leaves `spared` zones free.
    pub(super) fn rooms(&self, spared: usize) -> Rooms<'_> {
        Rooms::new(self, self.open.iter().map(|zone| self.filling(*zone)).collect(), spared)
    }

    fn filling(&self, zone: Option<usize>) -> Option<Filling> {
        let zone = zone?;
        Some(Filling { zone, written_blocks: self.all.get(zone)?.written_blocks })
    }

    /// Applies a plan.
    pub(super) fn take(&mut self, taken: &Taken) {
        debug_assert!(taken.zones <= self.free.len(), "{} of {} zones", taken.zones, self.free.len());
        debug_assert_eq!(taken.open.len(), self.open.len(), "a zone for each group");
        let begun: Vec<usize> = self.free.drain(..taken.zones).collect();
        self.begun += begun.len() as u64;
        self.open.clone_from(&taken.open);
        for index in begun {
            if let Some(zone) = self.all.get_mut(index) {
                debug_assert!(zone.is_free(), "only a free zone is begun");
                *zone = Zone { state: ZoneState::Open, ..Zone::default() };
            }
        }
        for index in &taken.closed {
            debug_assert!(*index < self.all.len(), "zone {index} of {}", self.all.len());
            if let Some(zone) = self.all.get_mut(*index) {
                debug_assert_eq!(zone.state, ZoneState::Open, "only an open zone is closed");
                zone.state = ZoneState::Closed;
            }
        }
    }

    /// Records an extent written up to a block.
    pub(super) fn fill(&mut self, position: u64, end: u64, sequence: u64) {
        let (index, start) = (self.zone_of(position), position / self.zone_blocks * self.zone_blocks);
        debug_assert!(position < end && end <= start + self.zone_blocks, "an extent lies in one zone");
        debug_assert!(index < self.all.len(), "zone {index} of {}", self.all.len());
        if let Some(zone) = self.all.get_mut(index) {
            debug_assert!(
                zone.newest < sequence || Defect::OldestWins.is_seeded(),
                "sequences grow in a zone, {sequence} in {zone:?}"
            );
            zone.written_blocks = zone.written_blocks.max(end - start);
            zone.newest = zone.newest.max(sequence);
            zone.touched = zone.touched.max(sequence);
        }
    }

    /// Enters an extent, later than all before it, here and in the map.
    pub(super) fn enter(&mut self, header: &Header, map: &mut Map) {
        let Header { sequence, position, .. } = *header;
        self.fill(position, header.end(), sequence);
        for (Entry { page, sum, .. }, spot) in header.spots() {
            self.replace(page, map.put(page, PagePlace::At { spot, sum, sequence }), spot.kept(sequence));
        }
        for page in &header.discards {
            let place = PagePlace::Discarded { block: position, sequence };
            self.replace(*page, map.put(*page, place), Kept { block: position, stored_bytes: 0, sequence });
        }
    }

    /// Moves a page to a new place.
    fn replace(&mut self, page: PageNumber, older: PagePlace, newer: Kept) {
        if let Some(older) = older.kept() {
            self.replaced(older, newer.sequence);
        }
        self.live(newer, page);
    }

    /// Marks a page, or its discard, as live.
    pub(super) fn live(&mut self, kept: Kept, page: PageNumber) {
        let index = self.zone_of(kept.block);
        debug_assert!(index < self.all.len(), "{page} lies in zone {index} of {}", self.all.len());
        if let Some(zone) = self.all.get_mut(index) {
            zone.alive += 1;
            zone.alive_discards += u64::from(kept.stored_bytes == 0);
            zone.alive_bytes += u64::from(kept.stored_bytes);
            zone.pages.push(page);
        }
    }

    /// Marks contents as superseded by an extent with that sequence.
    pub(super) fn replaced(&mut self, kept: Kept, sequence: u64) {
        let index = self.zone_of(kept.block);
        debug_assert!(index < self.all.len(), "zone {index} of {}", self.all.len());
        if let Some(zone) = self.all.get_mut(index) {
            let (discards, bytes) = (u64::from(kept.stored_bytes == 0), u64::from(kept.stored_bytes));
            debug_assert!(
                zone.alive > 0 && zone.alive_discards >= discards && zone.alive_bytes >= bytes
                    || Defect::LiveZoneFreed.is_seeded()
                    || Defect::StaleMove.is_seeded(),
                "what is replaced was alive: {kept:?} of {zone:?}"
            );
            zone.alive = zone.alive.saturating_sub(1);
            zone.alive_discards = zone.alive_discards.saturating_sub(discards);
            zone.alive_bytes = zone.alive_bytes.saturating_sub(bytes);
            zone.touched = zone.touched.max(sequence);
        }
    }

    /// Completes recovery. Zones without live contents become free if their successors are durable.
    /// The zones with the most room are filled further, so that interrupted cleaning can proceed.
    pub(super) fn restored(&mut self, durable: u64) {
        for zone in &mut self.all {
            if zone.alive == 0 && zone.touched <= durable {
                *zone = Zone::default();
            } else {
                zone.state = ZoneState::Closed;
            }
        }
        debug_assert!(
            self.all.iter().all(|zone| zone.written_blocks <= self.zone_blocks),
            "no zone is filled beyond its end"
        );
        let (free, mut rest): (Vec<_>, Vec<_>) =
            (0..self.all.len()).partition(|index| self.all.get(*index).is_some_and(Zone::is_free));
        self.free = free.into();
        rest.sort_by_key(|index| self.all.get(*index).map_or(0, |zone| zone.written_blocks));
        for (open, index) in self.open.iter_mut().zip(rest) {
            let Some(zone) = self.all.get_mut(index) else { continue };
            if zone.written_blocks < self.zone_blocks {
                zone.state = ZoneState::Open;
                *open = Some(index);
            }
        }
    }

    /// Excludes a zone with an unreadable page from cleaning during this opening.
    pub(super) fn keep_lost(&mut self, zone: usize) {
        debug_assert!(zone < self.all.len(), "zone {zone} of {}", self.all.len());
        if let Some(zone) = self.all.get_mut(zone) {
            zone.has_lost = true;
        }
    }

    /// Returns true if a zone has no live contents that could be moved.
    pub(super) fn is_empty_but_for_lost(&self, zone: usize) -> bool {
        debug_assert!(zone < self.all.len(), "zone {zone} of {}", self.all.len());
        self.all.get(zone).is_some_and(|zone| zone.alive == 0 || zone.has_lost)
    }

    /// Number of closed zones without live contents.
    pub(super) fn dead(&self) -> usize {
        self.all.iter().filter(|zone| zone.state == ZoneState::Closed && zone.alive == 0).count()
    }

    /// Closed zones without live contents, once everything up to `durable` is durable.
    pub(super) fn dead_zones(&self, durable: u64) -> Vec<usize> {
        let zones = self.all.iter().enumerate();
        let dead = zones
            .filter(|(_, zone)| zone.state == ZoneState::Closed && zone.is_dead() && zone.touched <= durable);
        dead.map(|(index, _)| index).collect()
    }

    pub(super) fn release(&mut self, zone: usize) {
        debug_assert!(!self.free.contains(&zone), "zone {zone} is free already");
        debug_assert!(
            self.all.get(zone).is_some_and(|zone| zone.state == ZoneState::Closed && zone.is_dead()),
            "zone {zone} holds nothing any more"
        );
        if let Some(entry) = self.all.get_mut(zone) {
            *entry = Zone::default();
            self.free.push_back(zone);
        }
    }
}

#[cfg(test)]
mod tests;
