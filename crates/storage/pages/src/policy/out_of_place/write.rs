//! Writes gathered batches to the zones.

use std::rc::Rc;

use nandle_io::{Arena, ArenaError, Buffer, Durability};

use super::clean;
use super::header::{ENTRIES_MAX, Header};
use super::packing::Put;
use super::rooms::{Rooms, Taken};
use super::zones::Zones;
use super::{EngineState, ZoneEngine};
use crate::defects::Defect;
use crate::memory::memory_of;
use crate::write_log::{Assigned, Changes, Context};
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Pages with new contents.
pub(super) type Puts = Vec<Put>;

/// An extent with a place, but without a sequence.
struct Planned {
    position: u64,
    puts: Puts,
    discards: Vec<PageNumber>,
    /// Zone to begin next.
    next: Option<u64>,
}

impl Planned {
    /// Uncompressed pages come first, so that they occupy whole blocks.
    fn of_pages(position: u64, mut puts: Puts, next: Option<u64>) -> Self {
        puts.sort_by_key(|put| put.packed.is_some());
        Self { position, puts, discards: Vec::new(), next }
    }

    /// Contents behind the header.
    fn contents(&self, arena: &Arena) -> Result<Vec<Buffer>, ArenaError> {
        let (packed, whole): (Vec<&Put>, Vec<&Put>) = self.puts.iter().partition(|put| put.packed.is_some());
        let mut contents: Vec<Buffer> = whole.into_iter().map(|put| put.contents.clone()).collect();
        let length: usize = packed.iter().map(|put| put.stored_bytes() as usize).sum();
        if length > 0 {
            let mut buffer = memory_of(arena, length.next_multiple_of(BLOCK_BYTES))?;
            let mut free: &mut [u8] = &mut buffer;
            for from in packed.into_iter().filter_map(|put| put.packed.as_deref()) {
                let split = std::mem::take(&mut free).split_at_mut_checked(from.len());
                let Some((into, rest)) = split else { unreachable!("{length} bytes are those of all pages") };
                into.copy_from_slice(from);
                free = rest;
            }
            debug_assert!(free.len() < BLOCK_BYTES, "{} bytes are left of {length}", free.len());
            free.fill(0);
            contents.push(buffer.freeze());
        }
        Ok(contents)
    }
}

/// Number of zones that must stay free when a group's pages are placed. Pages are first placed
/// separately by lifetime, which needs an open zone for each lifetime group. If that leaves too few
/// zones free, all pages are placed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spared {
    /// Applies to separate placement.
    by_groups: usize,
    /// Applies to common placement.
    by_all: usize,
}

impl Spared {
    /// Uses the same number in both cases.
    pub(super) fn by_all(zones: usize) -> Self {
        Self { by_groups: zones, by_all: zones }
    }

    /// For cleaning: separate placement leaves one more zone free, as the live pages of any zone
    /// fit into it with common placement.
    pub(super) fn but_the_last(zones: usize) -> Self {
        Self { by_groups: zones + 1, by_all: zones }
    }
}

/// A planned extent: its place, and its numbers of next pages and discards.
struct Extent {
    position: u64,
    next: Option<u64>,
    pages: usize,
    discarded: usize,
}

/// Places pages by their groups, in order, and then discards; `None` if they don't all fit.
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
            let fitting = fitting(puts, room.blocks);
            debug_assert!(fitting > 0, "{room:?} is room for a page");
            let (now, rest) = puts.split_at_checked(fitting.max(1))?;
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

/// Number of leading pages that fit `blocks` blocks.
fn fitting(puts: &[Put], blocks: u64) -> usize {
    let ends = puts.iter().scan(0, |end_bytes, put| {
        *end_bytes += u64::from(put.stored_bytes());
        Some(*end_bytes)
    });
    ends.take(ENTRIES_MAX).take_while(|end_bytes| *end_bytes <= blocks * BLOCK_BYTES as u64).count()
}

/// Writes the gathered batches as one group. Returns the sequence that covers them. Uses a single
/// durable write if wanted and possible.
pub(super) async fn push(shared: &Rc<ZoneEngine>, wanted: Durability) -> Result<u64, PageError> {
    let ZoneEngine { context, log, .. } = &**shared;
    loop {
        context.disk.check_writable()?;
        clean::start(shared);
        let changes = log.gathered();
        if changes == 0 || (shared.has_room() && !log.tail.is_too_much_at_risk(changes)) {
            break;
        }
        context.wait_until(|| shared.has_room()).await?;
        log.tail.limit_what_is_at_risk(changes).await?;
    }
    log.begin_group();
    let Changes { puts, discards, ends_group } = log.take(usize::MAX, usize::MAX);
    debug_assert!(ends_group, "a group is sent at once, so that nothing comes in between");
    let compresses = context.options.compress;
    let puts: Puts = puts.into_iter().map(|(page, contents)| Put::new(page, contents, compresses)).collect();
    let kept_free = {
        let state = &mut *shared.state.borrow_mut();
        for put in &puts {
            state.lifetimes.written(put.page);
        }
        Spared::by_all(state.spared_zones())
    };
    shared.send(puts, &discards, kept_free, wanted)?;
    log.tail.flush_ahead();
    shared.save_ahead();
    clean::start(shared);
    let groups = log.tail.assigned_groups();
    Ok(groups)
}

impl ZoneEngine {
    fn has_room(&self) -> bool {
        let state = self.state.borrow();
        state.zones.free() >= state.spared_zones() + self.gathered_zones() && self.log.tail.may_send()
    }

    /// Starts the writes of pages and discards as one group, without awaiting, so that nothing
    /// intervenes.
    pub(super) fn send(
        self: &Rc<Self>,
        puts: Puts,
        discards: &[PageNumber],
        spared: Spared,
        wanted: Durability,
    ) -> Result<(), PageError> {
        let Context { label, arena, .. } = &*self.context;
        let latch = |error: &PageError| self.context.latch(error);
        let planned = self.state.borrow_mut().plan(puts, discards, label.page_blocks(), spared);
        let what = "no room is left for pages although cleaning said so";
        let planned = planned.ok_or(PageError::Inconsistent { what }).inspect_err(latch)?;
        let count = planned.len();
        for (number, extent) in (1..).zip(planned) {
            // No group may follow an interrupted one.
            let contents = extent.contents(arena).map_err(PageError::from).inspect_err(latch)?;
            let mut header = self.enter(extent, number == count);
            debug_assert_eq!(
                contents.iter().map(Buffer::len).sum::<usize>() as u64,
                (header.end() - header.position - 1) * BLOCK_BYTES as u64,
                "a header tells how long its extent is"
            );
            let block = self.log.seal(&mut header)?;
            self.state.borrow_mut().needed.sent(&header);
            self.log.send("writing pages", (header, block), contents, wanted);
        }
        Ok(())
    }

    /// Writes pages that only move, and waits until they are written.
    pub(super) async fn send_and_wait(
        self: &Rc<Self>,
        puts: Puts,
        discards: &[PageNumber],
        spared: Spared,
    ) -> Result<(), PageError> {
        self.send(puts, discards, spared, Durability::Volatile)?;
        let sent = self.log.tail.assigned();
        self.log.tail.wait_until_written(sent).await
    }

    /// Assigns a sequence to an extent, and enters it into all structures.
    fn enter(&self, extent: Planned, is_last: bool) -> Header {
        let Planned { position, puts, discards, next } = extent;
        debug_assert!(!puts.is_empty() || !discards.is_empty(), "an extent holds something");
        // A renewal writes all discards together.
        let changes = puts.len() + discards.len().div_ceil(ENTRIES_MAX);
        let Assigned { sequence, durable } = self.log.tail.assign(changes, is_last);
        let pages = puts.iter().map(Put::entry).collect();
        let header = Header { sequence, durable, position, is_last, next, pages, discards, seal: 0 };
        let mapped = &mut *self.log.versions_mut();
        self.state.borrow_mut().zones.enter(&header, &mut mapped.map);
        mapped.sent(&header, puts);
        header
    }
}

impl EngineState {
    /// Number of zones that clients leave free: the reserved ones, and another for cleaning.
    fn spared_zones(&self) -> usize {
        self.zones.reserved() + usize::from(!Defect::ReserveTooSmall.is_seeded())
    }

    /// Plans places: pages by lifetime, discards with the longest-lived pages. Each lifetime group
    /// needs its own header, so with little room all pages are placed as longest-lived.
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
            let group = by_group.get_mut(self.lifetimes.group(put.page, groups));
            let Some(group) = group else { unreachable!("{} has one of {groups} groups", put.page) };
            group.push(put);
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
            let Some(coldest) = by_group.last_mut() else { unreachable!("there is a group") };
            *coldest = together;
            place(&self.zones, &by_group, spared.by_all)?
        };
        debug_assert_eq!(
            extents.iter().map(|extent| extent.pages).sum::<usize>(),
            by_group.iter().map(Vec::len).sum::<usize>(),
            "each page has a place"
        );
        debug_assert_eq!(
            extents.iter().map(|extent| extent.discarded).sum::<usize>(),
            discards.len(),
            "and so has each discard"
        );
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
}
