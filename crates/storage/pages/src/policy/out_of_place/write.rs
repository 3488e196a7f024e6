//! From memory to the zones.

use std::rc::Rc;

use nandle_io::{Arena, ArenaError, Buffer, Durability, WriteBuffers};

use super::clean;
use super::header::{ENTRIES_MAX, Entry, Header};
use super::map::PagePlace;
use super::packing::Put;
use super::rooms::{Rooms, Taken};
use super::zones::{Zones, capacity};
use super::{EngineState, ZoneEngine};
use crate::defects::Defect;
use crate::{BLOCK_BYTES, Batch, PageError, PageNumber};

/// Extents that may be on their way at once. Deep enough for any device, and a bound on memory.
const EXTENTS_IN_FLIGHT: u64 = 64;
/// Pages with new contents.
pub(super) type Puts = Vec<Put>;

/// An extent that has a place and no sequence yet.
struct Planned {
    position: u64,
    puts: Puts,
    discards: Vec<PageNumber>,
    /// The zone that is begun next.
    next: Option<u64>,
}

impl Planned {
    /// Pages that lie as they are come first, so that they lie in whole blocks.
    fn of_pages(position: u64, mut puts: Puts, next: Option<u64>) -> Self {
        puts.sort_by_key(|put| put.packed.is_some());
        Self { position, puts, discards: Vec::new(), next }
    }

    /// What is written behind the header.
    fn contents(&self, arena: &Arena) -> Result<Vec<Buffer>, ArenaError> {
        let (packed, whole): (Vec<&Put>, Vec<&Put>) = self.puts.iter().partition(|put| put.packed.is_some());
        let mut contents: Vec<Buffer> = whole.into_iter().map(|put| put.contents.clone()).collect();
        let length: usize = packed.iter().map(|put| put.stored_bytes() as usize).sum();
        if length > 0 {
            let mut buffer = arena.allocate(length.next_multiple_of(BLOCK_BYTES))?;
            let mut free: &mut [u8] = &mut buffer;
            for from in packed.into_iter().filter_map(|put| put.packed.as_deref()) {
                let Some((into, rest)) = std::mem::take(&mut free).split_at_mut_checked(from.len()) else {
                    break;
                };
                into.copy_from_slice(from);
                free = rest;
            }
            free.fill(0);
            contents.push(buffer.freeze());
        }
        Ok(contents)
    }
}

/// Zones that stay free when extents are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spared {
    /// As long as each group of lifetimes has extents of its own.
    by_groups: usize,
    /// In any case.
    by_all: usize,
}

impl Spared {
    /// The same in both cases.
    pub(super) fn by_all(zones: usize) -> Self {
        Self { by_groups: zones, by_all: zones }
    }

    /// The last zone beside those is for pages that are all written together: it has room for what is alive in any that is
    /// cleaned.
    pub(super) fn but_the_last(zones: usize) -> Self {
        Self { by_groups: zones + 1, by_all: zones }
    }
}

/// Where an extent will lie, and what it will hold: so many of the next pages, and of the next discards.
struct Extent {
    position: u64,
    next: Option<u64>,
    pages: usize,
    discarded: usize,
}

/// Finds places for pages by their groups, in their order, and for so many discards; none if there isn't room for all.
fn place(
    mut rooms: Rooms<'_>,
    by_group: &[Puts],
    discards: usize,
    page_blocks: u64,
) -> Option<(Vec<Extent>, Taken)> {
    let mut extents = Vec::new();
    for (group, mut puts) in by_group.iter().map(Vec::as_slice).enumerate() {
        while !puts.is_empty() {
            let room = rooms.room(group, page_blocks)?;
            let (now, rest) = puts.split_at_checked(fitting(puts, room.blocks).max(1))?;
            rooms.fill(room.position + 1 + stored_bytes(now).div_ceil(BLOCK_BYTES as u64));
            extents.push(Extent {
                position: room.position,
                next: rooms.next(),
                pages: now.len(),
                discarded: 0,
            });
            puts = rest;
        }
    }
    let mut left = discards;
    while left > 0 {
        let position = rooms.room(by_group.len().saturating_sub(1), 0)?.position;
        rooms.fill(position + 1);
        let discarded = left.min(ENTRIES_MAX);
        extents.push(Extent { position, next: rooms.next(), pages: 0, discarded });
        left -= discarded;
    }
    Some((extents, rooms.taken()))
}

fn stored_bytes(puts: &[Put]) -> u64 {
    puts.iter().map(|put| u64::from(put.stored_bytes())).sum()
}

/// How many of these pages, the first ones, fit into an extent with so many blocks behind its header.
fn fitting(puts: &[Put], blocks: u64) -> usize {
    let ends = puts.iter().scan(0, |end_bytes, put| {
        *end_bytes += u64::from(put.stored_bytes());
        Some(*end_bytes)
    });
    ends.take(ENTRIES_MAX).take_while(|end_bytes| *end_bytes <= blocks * BLOCK_BYTES as u64).count()
}

/// The most changes that are written as one group: so many that one free zone is enough, also when a renewal writes them
/// piece by piece.
pub(super) fn largest_group(shared: &ZoneEngine) -> usize {
    capacity(shared.zone_blocks, shared.label.page_blocks(), shared.piece_pages())
}

/// The most changes that may be volatile: so many that the zones that are kept for a renewal are enough for all of them. Where
/// one zone ends and the next begins, less than a page is left and a header is needed.
fn most_at_risk(shared: &ZoneEngine) -> usize {
    let (group, kept) = (largest_group(shared), shared.state.borrow().zones.kept_for_renewal());
    group + (kept - 1) * group.saturating_sub(2)
}

/// Takes a batch into memory, and writes what is there when it is enough.
pub(super) async fn accept(shared: &Rc<ZoneEngine>, batch: Batch) -> Result<(), PageError> {
    let most = largest_group(shared);
    while {
        let gather = &shared.state.borrow().gather;
        !gather.is_empty() && gather.len() + batch.len() > most
    } {
        push(shared, Durability::Volatile).await?;
    }
    let is_full = {
        let mut state = shared.state.borrow_mut();
        let absorbed = state.gather.add(batch.into_changes());
        shared.disk.count(|stats| stats.pages_absorbed += absorbed);
        let bytes = state.gather.len() * shared.label.page_length();
        bytes >= shared.options.gather_bytes || state.gather.len() >= most
    };
    if is_full { push(shared, Durability::Volatile).await.map(|_| ()) } else { Ok(()) }
}

/// Sends what is gathered on its way to be durable. As long as commits are under way more is gathered, and one of those that
/// wait sends it for all of them: one request and one header instead of many. Returns the sequence up to which it is sent.
pub(super) async fn push_together(shared: &Rc<ZoneEngine>) -> Result<u64, PageError> {
    let gathered = shared.state.borrow().groups_sent;
    let is_sent = || shared.state.borrow().groups_sent > gathered;
    let is_empty = || shared.state.borrow().gather.is_empty();
    shared.wait_for(|| shared.commits.get() == 0 || is_sent() || is_empty()).await?;
    if is_sent() || is_empty() {
        return Ok(shared.state.borrow().chain.assigned_groups());
    }
    push(shared, Durability::Durable).await
}

/// Writes what is gathered as one group. Returns the sequence by which it and all before it are written. Where it is
/// wanted durable and one request can do that, it does.
pub(super) async fn push(shared: &Rc<ZoneEngine>, wanted: Durability) -> Result<u64, PageError> {
    loop {
        shared.disk.check_writable()?;
        clean::start(shared);
        let pages = shared.state.borrow().gather.len();
        if pages == 0 || (shared.has_room() && !shared.is_too_much_at_risk(pages)) {
            break;
        }
        shared.wait_for(|| shared.has_room()).await?;
        shared.limit_what_is_at_risk(pages).await?;
    }
    let (puts, discards) = {
        let state = &mut *shared.state.borrow_mut();
        state.groups_sent += 1;
        state.gather.take(usize::MAX, usize::MAX)
    };
    let compresses = shared.options.compress;
    let puts: Puts = puts.into_iter().map(|(page, contents)| Put::new(page, contents, compresses)).collect();
    {
        let lifetimes = &mut shared.state.borrow_mut().lifetimes;
        for put in &puts {
            lifetimes.written(put.page);
        }
    }
    let kept_free = Spared::by_all(shared.state.borrow().spared_zones());
    shared.send(puts, &discards, kept_free, wanted)?;
    shared.flush_ahead();
    shared.save_ahead();
    clean::start(shared);
    Ok(shared.state.borrow().chain.assigned_groups())
}

impl ZoneEngine {
    /// Whether more would be volatile with so many pages than a [renewal](super::renew) has room for.
    pub(super) fn is_too_much_at_risk(&self, pages: usize) -> bool {
        let at_risk = self.state.borrow().chain.pages_at_risk();
        at_risk > 0 && at_risk + pages > most_at_risk(self)
    }

    /// Flushes before it is too much.
    pub(super) async fn limit_what_is_at_risk(&self, pages: usize) -> Result<(), PageError> {
        if !self.is_too_much_at_risk(pages) {
            return Ok(());
        }
        let groups = self.state.borrow().chain.assigned_groups();
        self.make_durable(groups).await
    }

    /// Makes it durable in the background when it is half as much, so that no client has to wait for it.
    fn flush_ahead(self: &Rc<Self>) {
        let (pages, groups) = {
            let chain = &self.state.borrow().chain;
            (chain.pages_at_risk(), chain.assigned_groups())
        };
        if 2 * pages <= most_at_risk(self) || self.is_flushing_ahead.replace(true) {
            return;
        }
        let shared = Rc::clone(self);
        self.disk.handle().spawn_named("page store: flushing ahead", async move {
            // What fails here has stopped the store, so every caller learns of it.
            _ = shared.make_durable(groups).await;
            shared.is_flushing_ahead.set(false);
        });
    }

    fn has_room(&self) -> bool {
        let state = self.state.borrow();
        state.zones.free() > state.spared_zones() && state.in_flight() < EXTENTS_IN_FLIGHT
    }

    /// Sends pages and discards on their way as one group, without waiting, so that nothing comes in between.
    pub(super) fn send(
        self: &Rc<Self>,
        puts: Puts,
        discards: &[PageNumber],
        spared: Spared,
        wanted: Durability,
    ) -> Result<(), PageError> {
        let planned = self.state.borrow_mut().plan(puts, discards, self.label.page_blocks(), spared);
        let Some(planned) = planned else {
            let error =
                PageError::Inconsistent { what: "no room is left for pages although cleaning said so" };
            self.disk.latch(&error);
            return Err(error);
        };
        let count = planned.len();
        for (number, extent) in (1..).zip(planned) {
            // A group that ends in the middle must not be followed by another.
            let latch = |error: &ArenaError| self.disk.latch(&(*error).into());
            let mut block = self.arena.allocate(BLOCK_BYTES).inspect_err(latch)?;
            let contents = extent.contents(&self.arena).inspect_err(latch)?;
            let mut header = self.enter(extent, number == count);
            // A group of one extent behind what is durable already needs no flush of its own.
            let is_next = header.is_last && header.durable + 1 == header.sequence;
            let durability = if is_next { wanted } else { Durability::Volatile };
            header.encode(self.label.id, &mut block);
            if self.label.seals_extents() {
                self.state.borrow_mut().needed.sent(&header);
            }
            let mut from = WriteBuffers::with_capacity(1 + contents.len());
            from.push(block.freeze());
            from.extend(contents);
            let offset_bytes = self.label.offset_of(header.position);
            let sent_as = if Defect::SkippedFlush.is_seeded() { Durability::Volatile } else { durability };
            let written = self.disk.send("writing pages", offset_bytes, from, sent_as);
            let this = Rc::clone(self);
            self.disk.handle().spawn_named("page store: an extent", async move {
                if written.await.is_ok() {
                    this.state.borrow_mut().wrote(&header, durability);
                }
                this.changed.notify();
            });
        }
        Ok(())
    }

    /// Sends pages that only move, and waits until they are written.
    pub(super) async fn send_and_wait(
        self: &Rc<Self>,
        puts: Puts,
        discards: &[PageNumber],
        spared: Spared,
    ) -> Result<(), PageError> {
        self.send(puts, discards, spared, Durability::Volatile)?;
        let sent = self.state.borrow().chain.assigned();
        self.wait_for(|| self.state.borrow().chain.written() >= sent).await
    }

    /// Gives an extent its sequence, and enters it everywhere.
    fn enter(&self, extent: Planned, is_last: bool) -> Header {
        let state = &mut *self.state.borrow_mut();
        let Planned { position, puts, discards, next } = extent;
        let durable = state.chain.durable();
        // A renewal writes all discards together.
        let changes = puts.len() + discards.len().div_ceil(ENTRIES_MAX);
        let sequence = state.chain.assign(changes, is_last);
        let pages = puts.iter().map(Put::entry).collect();
        let header = Header { sequence, durable, position, is_last, next, pages, discards, seal: 0 };
        state.enter(&header);
        state.on_the_way.extend(puts.into_iter().map(|put| (put.page, (sequence, put.contents))));
        for page in &header.discards {
            state.on_the_way.remove(page);
        }
        header
    }
}

impl EngineState {
    /// Zones that clients leave free: one more than what is reserved, which cleaning needs to go on.
    fn spared_zones(&self) -> usize {
        self.zones.reserved() + usize::from(!Defect::ReserveTooSmall.is_seeded())
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.chain.assigned() - self.chain.written()
    }

    /// Enters an extent, later than all before it.
    pub(super) fn enter(&mut self, header: &Header) {
        let Header { sequence, position, .. } = *header;
        self.zones.fill(position, header.end(), sequence);
        for (Entry { page, sum, .. }, spot) in header.spots() {
            self.replace(page, PagePlace::At { spot, sum, sequence });
        }
        for page in &header.discards {
            self.replace(*page, PagePlace::Discarded { block: position, sequence });
        }
    }

    /// Enters a page's new place.
    fn replace(&mut self, page: PageNumber, place: PagePlace) {
        let Some(kept) = place.kept() else { return };
        if let Some(older) = self.map.put(page, place).kept() {
            self.zones.replaced(older, kept.sequence);
        }
        self.zones.live(kept, page);
    }

    /// Finds places: pages by their lifetimes, discards with those that live longest. Each group of lifetimes needs a header of
    /// its own, so where room is short all pages are written as if they lived longest.
    fn plan(
        &mut self,
        puts: Puts,
        discards: &[PageNumber],
        page_blocks: u64,
        spared: Spared,
    ) -> Option<Vec<Planned>> {
        let groups = self.zones.groups();
        let mut by_group: Vec<Puts> = vec![Vec::new(); groups];
        for put in puts {
            by_group.get_mut(self.lifetimes.group(put.page, groups))?.push(put);
        }
        let place = |zones: &Zones, by_group: &[Puts], spared| {
            place(zones.rooms(spared), by_group, discards.len(), page_blocks)
        };
        let placed = place(&self.zones, &by_group, spared.by_groups);
        let (extents, taken) = if let Some(placed) = placed {
            placed
        } else {
            let together: Puts = by_group.into_iter().flatten().collect();
            by_group = vec![Vec::new(); groups];
            *by_group.last_mut()? = together;
            place(&self.zones, &by_group, spared.by_all)?
        };
        self.zones.take(&taken);
        let (mut puts, mut discards) = (by_group.into_iter().flatten(), discards.iter().copied());
        let planned = extents.into_iter().map(|Extent { position, next, pages, discarded }| {
            let puts = puts.by_ref().take(pages).collect();
            Planned {
                discards: discards.by_ref().take(discarded).collect(),
                ..Planned::of_pages(position, puts, next)
            }
        });
        Some(planned.collect())
    }

    fn wrote(&mut self, header: &Header, durability: Durability) {
        self.chain.wrote(header.sequence);
        if durability == Durability::Durable {
            self.chain.flushed(header.sequence);
        }
        for Entry { page, .. } in &header.pages {
            if self.on_the_way.get(page).is_some_and(|(sequence, _)| *sequence == header.sequence) {
                self.on_the_way.remove(page);
            }
        }
    }
}
