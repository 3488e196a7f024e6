//! From memory to the staging area.

use std::rc::Rc;

use nandle_io::{Buffer, WriteBuffers};

use super::drain;
use super::engine::Shared;
use super::header::{ENTRIES_MAX, Header};
use super::space::{Placement, Room, Slot};
use super::table::Entry;
use crate::defects::Defect;
use crate::page::checksum;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Extents that may be on their way at once. Deep enough for any device, and a bound on memory.
const EXTENTS_IN_FLIGHT: u64 = 64;

impl Shared {
    /// Writes what is gathered as one group. Returns, when all of it is on its way, the sequence by which it and all
    /// before it are written. It goes on when its caller is dropped: a group must not end in the middle.
    pub(super) async fn push(self: &Rc<Self>) -> Result<u64, PageError> {
        let shared = Rc::clone(self);
        self.disk
            .handle()
            .spawn_named("page store: writing a group", async move { shared.push_group().await })
            .await
    }

    async fn push_group(self: &Rc<Self>) -> Result<u64, PageError> {
        let _mine = self.push_turn.take().await;
        {
            let mut state = self.state.borrow_mut();
            state.pushing = std::mem::take(&mut state.gather);
        }
        while !self.state.borrow().pushing.is_empty() {
            let room = self.room().await?;
            self.wait_for_flight().await?;
            self.append(room)?;
            drain::start(self);
        }
        Ok(self.state.borrow().chain.assigned())
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
    fn append(self: &Rc<Self>, room: Room) -> Result<(), PageError> {
        let mut header_block = self.arena.allocate(BLOCK_BYTES)?;
        let (header, contents) = self.enter(room);
        header.encode(self.label.id, &mut header_block);
        let mut from: WriteBuffers = WriteBuffers::with_capacity(1 + contents.len());
        from.push(header_block.freeze());
        from.extend(contents);
        let writing = self.disk.write("writing to the staging area", self.offset_of(room.position), from);
        let nobody_waits = {
            let state = &mut *self.state.borrow_mut();
            state.extents.push_back((writing, header));
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

    /// Waits for all extents that are on their way, in their order: a later one counts for nothing before those in front
    /// of it.
    async fn wait_for_extents(&self) {
        loop {
            let next = self.state.borrow_mut().extents.pop_front();
            let Some((writing, header)) = next else { break };
            if writing.await.is_ok() {
                let state = &mut *self.state.borrow_mut();
                state.chain.wrote(header.sequence);
                let pages = header.pages.iter().map(|(page, _)| *page);
                state.table.written(header.sequence, pages, self.keep_pages);
            }
            self.changed.notify();
        }
        self.state.borrow_mut().is_waiting_for_extents = false;
    }

    /// Takes changes, and enters them everywhere.
    fn enter(&self, room: Room) -> (Header, Vec<Buffer>) {
        let state = &mut *self.state.borrow_mut();
        let (puts, discards) = state.pushing.take(ENTRIES_MAX, room.pages);
        let is_last = state.pushing.is_empty();
        let durable = state.chain.durable();
        let sequence = state.chain.assign(is_last);
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
            for page in std::mem::take(&mut state.unordered) {
                if state.table.get(page).is_some() && !state.homing.contains(&page) {
                    state.order.added(page);
                }
            }
        }
        let position = room.position;
        (Header { epoch: state.epoch, sequence, durable, position, is_last, pages, discards }, contents)
    }
}
