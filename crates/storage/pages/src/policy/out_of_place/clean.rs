//! Cleaning: rewrites the live pages of a mostly dead zone elsewhere, which frees the zone.

use std::rc::Rc;

use super::ZoneEngine;
use super::capacity::zones_of;
use super::format::PIECE_PAGES;
use super::header::ENTRIES_MAX;
use super::map::PagePlace;
use super::packing::{Put, Spot};
use super::write::{Puts, Spared};
use crate::defects::Defect;
use crate::memory::memory_of;
use crate::page::checksum;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Free zones below which cleaning starts, in addition to the reserved ones: one to fill next, one
/// to clean into, and one for a burst.
pub(super) const FREE_ZONES: usize = 3;

/// A page with its place and checksum.
pub(super) type Stored = (PageNumber, Spot, u32);

/// Targets for free zones.
struct Wanted {
    /// Below this the next group waits.
    least: usize,
    /// From this on no zone is cleaned.
    enough: usize,
}

/// Starts cleaning in the background if needed.
pub(super) fn start(shared: &Rc<ZoneEngine>) {
    let Wanted { enough, .. } = shared.wanted_zones();
    let mut state = shared.state.borrow_mut();
    if state.is_cleaning || state.zones.free() >= enough || state.is_stopped {
        return;
    }
    state.is_cleaning = true;
    drop(state);
    let worker = Rc::clone(shared);
    shared.context.disk.handle().spawn_named("page store: cleaning", async move {
        if let Err(error) = work(&worker).await {
            // A caller waiting for room would wait forever.
            worker.context.latch(&error);
        }
        worker.state.borrow_mut().is_cleaning = false;
        worker.context.changed.notify();
    });
}

/// Cleans until enough zones are free.
pub(super) async fn work(shared: &Rc<ZoneEngine>) -> Result<(), PageError> {
    while !shared.state.borrow().is_stopped {
        let (free, dead) = {
            let zones = &shared.state.borrow().zones;
            (zones.free(), zones.dead())
        };
        let Wanted { least, enough } = shared.wanted_zones();
        if free >= enough {
            return Ok(());
        }
        let is_urgent = free < least || free + dead >= enough;
        if dead > 0 && is_urgent && shared.give_back().await? {
            continue;
        }
        let written = shared.log.tail.written();
        let victim = {
            let zones = &shared.state.borrow().zones;
            zones.victim(shared.context.label.page_blocks(), shared.piece_pages(), written)
        };
        match victim {
            Some(zone) => clean(shared, zone).await?,
            None if shared.log.tail.in_flight() > 0 => {
                shared.log.tail.wait_until_written(written + 1).await?;
            }
            // Cleaning gains nothing. Clients may continue while any zone is free.
            None if dead == 0 && free >= least => return Ok(()),
            None if dead == 0 => {
                return Err(PageError::NoRoom { free, zones: shared.state.borrow().zones.count() });
            }
            None => _ = shared.give_back().await?,
        }
    }
    Ok(())
}

/// Rewrites the live pages of a zone, in pieces that fit into memory.
async fn clean(shared: &Rc<ZoneEngine>, zone: usize) -> Result<(), PageError> {
    let (stored, discards) = shared.alive(zone);
    for piece in stored.chunks(shared.piece_pages()) {
        move_from(shared, zone, piece, &[]).await?;
    }
    for piece in discards.chunks(ENTRIES_MAX) {
        move_from(shared, zone, &[], piece).await?;
    }
    debug_assert!(shared.state.borrow().zones.is_empty_but_for_lost(zone), "zone {zone} has moved");
    Ok(())
}

/// Rewrites pages and discards of a zone, except those changed meanwhile and unreadable ones.
async fn move_from(
    shared: &Rc<ZoneEngine>,
    zone: usize,
    stored: &[Stored],
    discards: &[PageNumber],
) -> Result<(), PageError> {
    debug_assert!(stored.is_empty() || discards.is_empty(), "pages and discards move by themselves");
    let in_zone = |page: PageNumber| shared.is_in(page, zone) || Defect::StaleMove.is_seeded();
    let stored = stored.iter().filter(|(page, ..)| in_zone(*page)).copied().collect();
    let (puts, lost) = shared.read_back(stored).await?;
    if lost.iter().any(|(page, _)| in_zone(*page)) {
        shared.state.borrow_mut().zones.keep_lost(zone);
    }
    // A caller woken first by the flush may add to it again.
    let changes = puts.len() + discards.len().div_ceil(ENTRIES_MAX);
    while shared.log.tail.is_too_much_at_risk(changes) {
        shared.log.tail.limit_what_is_at_risk(changes).await?;
    }
    // Pages changed during the read are left out.
    let puts: Puts = puts.into_iter().filter(|put| in_zone(put.page)).collect();
    let discards: Vec<_> = discards.iter().copied().filter(|page| in_zone(*page)).collect();
    if puts.is_empty() && discards.is_empty() {
        return Ok(());
    }
    debug_assert!(puts.len() <= shared.piece_pages(), "{} pages are one extent", puts.len());
    shared.context.disk.count(|stats| stats.pages_cleaned += puts.len() as u64);
    let kept_free = {
        let state = shared.state.borrow();
        // Before the store is open, moved pages need no reserve.
        if state.ledger.is_closed { 0 } else { state.zones.reserved() }
    };
    shared.send_and_wait(puts, &discards, Spared::but_the_last(kept_free)).await
}

/// Number of pages that are moved together in memory and rewritten as one extent.
pub(super) fn piece_pages(memory_bytes: usize, page_bytes: usize) -> usize {
    // Zones reserve room for the headers of pieces of this minimum length.
    (memory_bytes / 4 / page_bytes.max(BLOCK_BYTES)).clamp(PIECE_PAGES, ENTRIES_MAX)
}

impl ZoneEngine {
    /// Maximum free zones needed by the gathered batches.
    pub(super) fn gathered_zones(&self) -> usize {
        zones_of(self.log.gathered(), self.zone_blocks, self.context.label.page_blocks(), ENTRIES_MAX)
    }

    /// Targets: the reserved zones, one left free by clients, and those for gathered batches.
    fn wanted_zones(&self) -> Wanted {
        let (state, gathered) = (self.state.borrow(), self.gathered_zones());
        let reserved = state.zones.reserved();
        let least = reserved + 1 + gathered;
        Wanted { least, enough: least.max(reserved + FREE_ZONES) }
    }

    /// Number of pages rewritten as one extent.
    pub(super) fn piece_pages(&self) -> usize {
        piece_pages(self.context.arena.bytes(), self.context.label.page_length())
    }

    /// Returns true if the newest version of a page, or its discard, lies in a zone.
    fn is_in(&self, page: PageNumber, zone: usize) -> bool {
        let kept = self.log.versions().map.get(page).kept();
        kept.is_some_and(|kept| self.state.borrow().zones.zone_of(kept.block) == zone)
    }

    /// Live pages of a zone, each once: those with contents, and discarded ones.
    fn alive(&self, zone: usize) -> (Vec<Stored>, Vec<PageNumber>) {
        let state = self.state.borrow();
        let (pages, map) = (state.zones.pages_of(zone), &self.log.versions().map);
        let (mut stored, mut discards) = (Vec::new(), Vec::new());
        let mut seen = rustc_hash::FxHashSet::default();
        for page in pages.iter().copied().filter(|page| self.is_in(*page, zone) && seen.insert(*page)) {
            match map.get(page) {
                PagePlace::At { spot, sum, .. } => stored.push((page, spot, sum)),
                PagePlace::Discarded { .. } => discards.push(page),
                PagePlace::Nowhere => unreachable!("{page} lies in zone {zone}"),
            }
        }
        (stored, discards)
    }

    /// Reads pages concurrently in stored form, so that moving doesn't recompress them. Also
    /// returns unreadable or damaged pages with their errors.
    pub(super) async fn read_back(
        self: &Rc<Self>,
        pages: Vec<Stored>,
    ) -> Result<(Puts, Vec<(PageNumber, PageError)>), PageError> {
        let mut reads = Vec::with_capacity(pages.len());
        for (page, spot, sum) in pages {
            let into = memory_of(&self.context.arena, self.context.label.page_length())?;
            let this = Rc::clone(self);
            reads.push((
                page,
                sum,
                self.context.disk.handle().spawn_named("page store: reading a page to move it", async move {
                    this.page_reader().fetch("reading a page to move it", spot, into).await
                }),
            ));
        }
        let (mut puts, mut lost) = (Vec::with_capacity(reads.len()), Vec::new());
        for (page, expected, read) in reads {
            let fetched = match read.await {
                Ok(fetched) => fetched,
                Err(error) if error.is_lost_page() => {
                    lost.push((page, error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let sum = checksum(page, &fetched.contents);
            if sum != expected {
                let place = "the zone that is cleaned";
                lost.push((page, PageError::Damaged { page, place, got: sum, expected }));
                continue;
            }
            let packed = fetched.packed.map(|packed| packed.to_vec().into());
            puts.push(Put { page, contents: fetched.contents, sum, packed });
        }
        Ok((puts, lost))
    }
}
