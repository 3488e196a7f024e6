//! From memory to the staging area.

use std::rc::Rc;

use nandle_io::{Buffer, Durability, WriteBuffers};

use super::drain;
use super::engine::{Shared, State};
use super::header::{ENTRIES_MAX, Header, NO_EPOCH};
use super::space::{Placement, Room, Slot};
use super::table::Entry;
use crate::defects::Defect;
use crate::disk::Writing;
use crate::page::checksum;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// An extent on its way to the device.
pub(super) struct Sent {
    writing: Writing,
    header: Header,
    /// It is durable, and all before it, when it is written.
    is_durable: bool,
}

/// Extents that may be on their way at once. Deep enough for any device, and a bound on memory.
const EXTENTS_IN_FLIGHT: u64 = 64;

impl Shared {
    /// Writes what is gathered as one group. Returns, when all of it is on its way, the sequence by which it and all
    /// before it are written. It goes on when its caller is dropped: a group must not end in the middle.
    pub(super) async fn push(self: &Rc<Self>) -> Result<u64, PageError> {
        self.push_as(Durability::Volatile).await
    }

    /// The same for a caller who wants it durable: where one request can do it, it does.
    pub(super) async fn push_durably(self: &Rc<Self>) -> Result<u64, PageError> {
        self.push_as(Durability::Durable).await
    }

    async fn push_as(self: &Rc<Self>, wanted: Durability) -> Result<u64, PageError> {
        let shared = Rc::clone(self);
        self.disk
            .handle()
            .spawn_named("page store: writing a group", async move {
                // A group that ends in the middle must not be followed by another.
                shared.push_group(wanted).await.inspect_err(|error| shared.disk.latch(error))
            })
            .await
    }

    async fn push_group(self: &Rc<Self>, wanted: Durability) -> Result<u64, PageError> {
        let _mine = self.push_turn.take().await;
        {
            let mut state = self.state.borrow_mut();
            state.pushing = std::mem::take(&mut state.gather);
        }
        self.limit_what_is_at_risk().await?;
        while !self.state.borrow().pushing.is_empty() {
            let room = self.room().await?;
            self.wait_for_flight().await?;
            self.append(room, wanted)?;
            drain::start(self);
        }
        self.flush_ahead();
        Ok(self.state.borrow().chain.assigned())
    }

    /// What isn't durable must never be more than a [renewal](super::renew) has room for.
    async fn limit_what_is_at_risk(&self) -> Result<(), PageError> {
        let (pages, groups) = {
            let State { chain, pushing, .. } = &*self.state.borrow();
            (chain.pages_at_risk() + pushing.len(), chain.assigned_groups())
        };
        if pages > self.largest_group() { self.make_durable(groups).await } else { Ok(()) }
    }

    /// Makes it durable in the background when it is half as much, so that nobody has to wait for it.
    fn flush_ahead(self: &Rc<Self>) {
        let (pages, groups) = {
            let chain = &self.state.borrow().chain;
            (chain.pages_at_risk(), chain.assigned_groups())
        };
        if 2 * pages <= self.largest_group() || self.is_flushing_ahead.replace(true) {
            return;
        }
        let shared = Rc::clone(self);
        self.disk.handle().spawn_named("page store: flushing ahead", async move {
            // What fails here has stopped the store, so everybody learns of it.
            _ = shared.make_durable(groups).await;
            shared.is_flushing_ahead.set(false);
        });
    }

    async fn wait_for_flight(&self) -> Result<(), PageError> {
        let in_flight = || {
            let chain = &self.state.borrow().chain;
            chain.assigned() - chain.written()
        };
        let may_go = || in_flight() < EXTENTS_IN_FLIGHT || self.disk.check_writable().is_err();
        self.changed.wait(|| may_go().then_some(())).await;
        self.disk.check_writable()
    }

    /// Waits for room for the next extent; makes some if there is none.
    async fn room(self: &Rc<Self>) -> Result<Room, PageError> {
        let mut all_is_home = false;
        loop {
            self.disk.check_writable()?;
            let found = {
                let mut state = self.state.borrow_mut();
                let wanted = state.pushing.puts_ahead(ENTRIES_MAX);
                let takes_less = all_is_home || self.placement == Placement::Slots;
                let least = if takes_less { wanted.min(1) } else { wanted };
                state.space.find(wanted, least)
            };
            if let Some(room) = found {
                return Ok(room);
            }
            let _hurry = self.hurry();
            if drain::make_space(self).await? {
                continue;
            }
            if !self.state.borrow().homing.is_empty() {
                // Others are at it.
                let before = self.state.borrow().homing.len();
                let moved_on =
                    || self.state.borrow().homing.len() != before || self.disk.check_writable().is_err();
                self.changed.wait(|| moved_on().then_some(())).await;
                continue;
            }
            if all_is_home {
                let what = "no room is left in the staging area although every page went home";
                return Err(PageError::Corrupt { what, offset_bytes: self.label.area_offset });
            }
            all_is_home = true;
        }
    }

    /// Sends the next extent on its way.
    fn append(self: &Rc<Self>, room: Room, wanted: Durability) -> Result<(), PageError> {
        let mut header_block = self.arena.allocate(BLOCK_BYTES)?;
        let (header, contents) = self.enter(room);
        header.encode(self.label.id, &mut header_block);
        let mut from: WriteBuffers = WriteBuffers::with_capacity(1 + contents.len());
        from.push(header_block.freeze());
        from.extend(contents);
        let is_durable = wanted == Durability::Durable && self.completes_what_is_durable(&header);
        let durability = if is_durable && !Defect::SkippedFlush.is_seeded() {
            Durability::Durable
        } else {
            Durability::Volatile
        };
        let offset_bytes = self.label.offset_of(room.position);
        let writing = self.disk.send("writing to the staging area", offset_bytes, from, durability);
        let nobody_waits = {
            let state = &mut *self.state.borrow_mut();
            state.extents.push_back(Sent { writing, header, is_durable });
            !std::mem::replace(&mut state.is_waiting_for_extents, true)
        };
        if nobody_waits {
            let shared = Rc::clone(self);
            self.disk
                .handle()
                .spawn_named("page store: extents", async move { shared.wait_for_extents().await });
        }
        Ok(())
    }

    /// Whether all is durable when this extent is: it is a group of its own, and everything before it is durable. Where
    /// somebody waits for a flush anyway, that one serves both.
    fn completes_what_is_durable(&self, header: &Header) -> bool {
        header.is_last && header.durable + 1 == header.sequence && !self.disk.flush_is_awaited()
    }

    /// Waits for all extents that are on their way, in their order: a later one counts for nothing before those in front
    /// of it.
    async fn wait_for_extents(&self) {
        loop {
            let next = self.state.borrow_mut().extents.pop_front();
            let Some(Sent { writing, header, is_durable }) = next else { break };
            if writing.await.is_ok() {
                let state = &mut *self.state.borrow_mut();
                state.chain.wrote(header.sequence);
                if is_durable {
                    state.chain.flushed(header.sequence);
                }
                let pages = header.pages.iter().map(|(page, _)| *page);
                let keep_pages = if header.epoch == NO_EPOCH { 0 } else { self.keep_pages };
                state.table.written(header.sequence, pages, keep_pages);
            }
            self.changed.notify();
        }
        self.state.borrow_mut().is_waiting_for_extents = false;
    }

    /// Takes changes, and enters them everywhere.
    fn enter(&self, room: Room) -> (Header, Vec<Buffer>) {
        let state = &mut *self.state.borrow_mut();
        let (puts, discards) = state.pushing.take(ENTRIES_MAX, room.pages);
        let is_last = state.pushing.is_empty() && state.extents_epoch != NO_EPOCH;
        let durable = state.chain.durable();
        let sequence = state.chain.assign(puts.len() + discards.len(), is_last);
        state.space.occupy(room.position, puts.len(), sequence);
        let mut pages: Vec<(PageNumber, u32)> = Vec::with_capacity(puts.len());
        let mut contents = Vec::with_capacity(puts.len());
        for (index, (page, buffer)) in puts.into_iter().enumerate() {
            let sum = checksum(page, &buffer);
            let slot = Slot { extent: room.position, index };
            let entry = Entry { sequence, slot, sum, memory: Some(buffer.clone()) };
            if let Some(older) = state.table.put(page, entry) {
                if Defect::LiveSlotReused.is_seeded() {
                    state.space.kill(&[older]);
                    state.space.release(&[older], &[]);
                } else {
                    state.superseded.push((older, sequence));
                }
                self.disk.count(|stats| stats.pages_absorbed += 1);
            }
            state.unordered.push(page);
            pages.push((page, sum));
            contents.push(buffer);
        }
        for page in &discards {
            if let Some(older) = state.table.remove(*page) {
                if !Defect::DiscardKeepsSlot.is_seeded() {
                    state.superseded.push((older, sequence));
                }
                state.order.removed(*page);
            }
        }
        if is_last {
            state.order_the_group();
        }
        let (epoch, position) = (state.extents_epoch, room.position);
        (Header { epoch, sequence, durable, position, is_last, pages, discards }, contents)
    }
}

impl State {
    /// The group is whole: its pages may go home.
    pub(super) fn order_the_group(&mut self) {
        for page in std::mem::take(&mut self.unordered) {
            if self.table.get(page).is_some() && !self.homing.contains(&page) {
                self.order.added(page);
            }
        }
    }
}
