//! The write log: what is gathered, the extents that it becomes, how far they are written and durable, and where the
//! newest version of each staged page is.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use nandle_io::{Buffer, Durability, WriteBuffers};

use super::context::Context;
use super::header::{ENTRIES_MAX, Header, NO_EPOCH};
use super::space::{Room, Slot};
use super::table::{Entry, Table};
use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Writing;
use crate::extents::{Chain, Gather};
use crate::page::checksum;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// See the [module](self).
pub(super) struct WriteLog {
    context: Rc<Context>,
    /// Staged pages whose contents may stay in memory.
    keep_pages: usize,
    is_flushing_ahead: Cell<bool>,
    state: RefCell<LogState>,
}

struct LogState {
    /// Batches that will be the next group.
    gather: Gather,
    /// What is left of the group that is being written.
    group: Gather,
    chain: Chain,
    table: Table,
    /// Extents on their way to the device, by sequence, and whether a task waits for them.
    sent: VecDeque<Sent>,
    is_waiting_for_sent: bool,
    /// Of the extents that are written now: the ledger's, or none in a [renewal](super::renew).
    epoch: u64,
}

/// An extent on its way to the device.
struct Sent {
    writing: Writing,
    header: Header,
    /// It is durable, and all before it, when it is written.
    is_durable: bool,
}

/// What an extent changed.
pub(super) struct Appended {
    pub(super) position: u64,
    pub(super) sequence: u64,
    /// The pages in it, by slot.
    pub(super) pages: Vec<PageNumber>,
    /// Pages that are discarded now.
    pub(super) discarded: Vec<PageNumber>,
    /// Slots of versions that it made obsolete.
    pub(super) superseded: Vec<Slot>,
    /// How many of its pages were staged before.
    rewritten: u64,
    pub(super) ends_group: bool,
    /// Of its header.
    pub(super) seal: u32,
}

/// Where a page is looked for that is in more than one place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Memory,
    Device,
}

/// Where the newest version of a page is.
pub(super) enum Found {
    InMemory(Buffer),
    Staged(Entry),
    AtHome,
}

/// Extents that may be on their way at once. Deep enough for any device, and a bound on memory.
const EXTENTS_IN_FLIGHT: u64 = 64;

impl WriteLog {
    /// Continues what recovery found: it is durable up to `durable`, and there up to `end`.
    pub(super) fn new(
        context: &Rc<Context>,
        keep_pages: usize,
        table: Table,
        (durable, end): (u64, u64),
    ) -> Rc<Self> {
        let state = LogState {
            gather: Gather::default(),
            group: Gather::default(),
            chain: Chain::continued(durable, end),
            table,
            sent: VecDeque::new(),
            is_waiting_for_sent: false,
            epoch: NO_EPOCH,
        };
        Rc::new(Self {
            context: Rc::clone(context),
            keep_pages,
            is_flushing_ahead: Cell::default(),
            state: RefCell::new(state),
        })
    }

    /// Adds changes to the next group.
    pub(super) fn gather(&self, changes: Vec<(PageNumber, Change)>) {
        let absorbed = self.state.borrow_mut().gather.add(changes);
        self.context.disk.count(|stats| stats.pages_absorbed += absorbed);
    }

    /// How many changes the next group has.
    pub(super) fn gathered(&self) -> usize {
        self.state.borrow().gather.len()
    }

    /// Whether a page is in memory alone.
    pub(super) fn is_in_memory(&self, page: PageNumber) -> bool {
        self.state.borrow().unwritten(page).is_some()
    }

    /// Where the newest version of a page is.
    pub(super) fn find(&self, page: PageNumber, from: From) -> Found {
        self.state.borrow().find(page, from)
    }

    pub(super) fn is_staged(&self, page: PageNumber) -> bool {
        self.state.borrow().table.get(page).is_some()
    }

    /// The newest staged version of a page, if all of its group is on its way.
    pub(super) fn version_of_whole_group(&self, page: PageNumber) -> Option<Entry> {
        let state = self.state.borrow();
        let whole_groups = state.chain.assigned_groups();
        state.table.get(page).filter(|entry| entry.sequence <= whole_groups).cloned()
    }

    /// The sequence of the newest staged version of a page.
    pub(super) fn newest_sequence(&self, page: PageNumber) -> Option<u64> {
        self.state.borrow().table.get(page).map(|entry| entry.sequence)
    }

    /// A version has been destaged: home is where it is read from, unless a newer one came. Returns its slot if none did.
    pub(super) fn destaged(&self, page: PageNumber, sequence: u64) -> Option<Slot> {
        self.state.borrow_mut().table.remove_version(page, sequence)
    }

    /// The pages that are staged.
    pub(super) fn staged(&self) -> Vec<PageNumber> {
        self.state.borrow().table.pages().collect()
    }

    /// Those, and those that will be.
    pub(super) fn known(&self) -> Vec<PageNumber> {
        let state = self.state.borrow();
        state.table.pages().chain(state.gather.pages()).chain(state.group.pages()).collect()
    }

    /// How many versions it holds.
    pub(super) fn len(&self) -> usize {
        let state = self.state.borrow();
        state.table.len() + state.gather.len() + state.group.len()
    }

    /// All extents up to this sequence have been written.
    pub(super) fn written(&self) -> u64 {
        self.state.borrow().chain.written()
    }

    /// All groups up to this end are durable.
    pub(super) fn durable(&self) -> u64 {
        self.state.borrow().chain.durable()
    }

    /// Whether nothing is left that could become durable.
    pub(super) fn is_all_durable(&self) -> bool {
        let LogState { gather, group, chain, .. } = &*self.state.borrow();
        gather.is_empty() && group.is_empty() && chain.assigned() == chain.durable()
    }

    /// The end of the last group that is on its way as a whole.
    pub(super) fn assigned_groups(&self) -> u64 {
        self.state.borrow().chain.assigned_groups()
    }

    /// The end of the last group that is written as a whole.
    pub(super) fn written_groups(&self) -> u64 {
        self.state.borrow().chain.written_groups()
    }

    /// A flush that began when all up to `written` had been written succeeded. Returns up to where all is durable.
    pub(super) fn flushed(&self, written: u64) -> u64 {
        let chain = &mut self.state.borrow_mut().chain;
        chain.flushed(written);
        chain.durable()
    }

    /// Makes durable all groups up to the one with this sequence.
    pub(super) async fn make_durable(&self, target: u64) -> Result<(), PageError> {
        loop {
            self.context.disk.check_writable()?;
            let (durable, written, written_groups) = {
                let chain = &self.state.borrow().chain;
                (chain.durable(), chain.written(), chain.written_groups())
            };
            if durable >= target {
                return Ok(());
            }
            if written_groups < target {
                self.context.wait_until(|| self.written_groups() >= target).await?;
                continue;
            }
            if !Defect::SkippedFlush.is_seeded() {
                self.context.disk.flush().await?;
            }
            self.flushed(written);
            self.context.changed.notify();
        }
    }

    pub(super) async fn wait_until_written(&self, sequence: u64) -> Result<(), PageError> {
        self.context.wait_until(|| self.written() >= sequence).await
    }

    /// What is gathered becomes the group that is written. What isn't durable must never be more than a
    /// [renewal](super::renew) has room for, so it may have to become so first.
    pub(super) async fn begin_group(&self) -> Result<(), PageError> {
        // A group that broke off stopped the store, and none follows it.
        self.context.disk.check_writable()?;
        let (pages, groups) = {
            let state = &mut *self.state.borrow_mut();
            debug_assert!(state.group.is_empty(), "one group is written at a time");
            state.group = std::mem::take(&mut state.gather);
            (state.chain.pages_at_risk() + state.group.len(), state.chain.assigned_groups())
        };
        if pages > self.context.largest_group() { self.make_durable(groups).await } else { Ok(()) }
    }

    /// How many pages the next extent of the group would like to have; none if the group is at its end.
    pub(super) fn wanted_pages(&self) -> Option<usize> {
        let group = &self.state.borrow().group;
        (!group.is_empty()).then(|| group.puts_ahead(ENTRIES_MAX))
    }

    /// The group is at its end: returns the sequence by which it and all before it are written. Makes it durable in the
    /// background when half as much is at risk as may be, so that no client has to wait for it.
    pub(super) fn end_group(self: &Rc<Self>) -> u64 {
        let (pages, groups, assigned) = {
            let LogState { chain, group, .. } = &*self.state.borrow();
            debug_assert!(group.is_empty(), "the group was written to its end");
            (chain.pages_at_risk(), chain.assigned_groups(), chain.assigned())
        };
        if 2 * pages > self.context.largest_group() && !self.is_flushing_ahead.replace(true) {
            let log = Rc::clone(self);
            self.context.disk.handle().spawn_named("page store: flushing ahead", async move {
                // What fails here has stopped the store, so every caller learns of it.
                _ = log.make_durable(groups).await;
                log.is_flushing_ahead.set(false);
            });
        }
        assigned
    }

    /// Waits until not too many extents are on their way.
    pub(super) async fn wait_for_flight(&self) -> Result<(), PageError> {
        let in_flight = || {
            let chain = &self.state.borrow().chain;
            chain.assigned() - chain.written()
        };
        self.context.wait_until(|| in_flight() < EXTENTS_IN_FLIGHT).await
    }

    /// Sends the next extent of the group on its way; durably if that is wanted and one request can do it.
    pub(super) fn append(self: &Rc<Self>, room: Room, wanted: Durability) -> Result<Appended, PageError> {
        let Context { arena, label, disk, .. } = &*self.context;
        let mut header_block = arena.allocate(BLOCK_BYTES)?;
        let (mut header, contents, mut appended) = self.state.borrow_mut().enter(room);
        disk.count(|stats| stats.pages_absorbed += appended.rewritten);
        header.encode(label.id, &mut header_block);
        appended.seal = header.seal;
        let mut from: WriteBuffers = WriteBuffers::with_capacity(1 + contents.len());
        from.push(header_block.freeze());
        from.extend(contents);
        let is_durable = wanted == Durability::Durable && self.completes_what_is_durable(&header);
        let durability = if is_durable && !Defect::SkippedFlush.is_seeded() {
            Durability::Durable
        } else {
            Durability::Volatile
        };
        let offset_bytes = label.offset_of(room.position);
        let writing = disk.send("writing to the staging area", offset_bytes, from, durability);
        self.wait_for(Sent { writing, header, is_durable });
        Ok(appended)
    }

    /// Whether all is durable when this extent is: it is a group of its own, and everything before it is durable. Where
    /// a flush is awaited anyway, that one serves both.
    fn completes_what_is_durable(&self, header: &Header) -> bool {
        header.is_last && header.durable + 1 == header.sequence && !self.context.disk.flush_is_awaited()
    }

    /// One task waits for all extents that are on their way.
    fn wait_for(self: &Rc<Self>, sent: Sent) {
        let is_waiting = {
            let state = &mut *self.state.borrow_mut();
            state.sent.push_back(sent);
            std::mem::replace(&mut state.is_waiting_for_sent, true)
        };
        if !is_waiting {
            let log = Rc::clone(self);
            let waiting = async move { log.wait_for_sent().await };
            self.context.disk.handle().spawn_named("page store: extents", waiting);
        }
    }

    /// Waits for them in their order: a later one counts for nothing before those in front of it.
    async fn wait_for_sent(&self) {
        loop {
            let next = self.state.borrow_mut().sent.pop_front();
            let Some(Sent { writing, header, is_durable }) = next else { break };
            if writing.await.is_ok() {
                self.state.borrow_mut().wrote(&header, is_durable, self.keep_pages);
            }
            self.context.changed.notify();
        }
        self.state.borrow_mut().is_waiting_for_sent = false;
    }

    /// What a [renewal](super::renew) wrote is durable, and what is appended from now on continues it. Returns the last
    /// sequence.
    pub(super) fn continue_behind_renewal(&self) -> u64 {
        let chain = &mut self.state.borrow_mut().chain;
        let sequence = chain.assigned();
        *chain = Chain::after(sequence);
        sequence
    }

    /// What is appended from now on is of this epoch.
    pub(super) fn begin_epoch(&self, epoch: u64) {
        let state = &mut *self.state.borrow_mut();
        debug_assert!(epoch > state.epoch, "epochs count up: {epoch} after {}", state.epoch);
        state.epoch = epoch;
    }
}

impl LogState {
    /// What will be written of a page, if anything.
    fn unwritten(&self, page: PageNumber) -> Option<&Change> {
        self.gather.get(page).or_else(|| self.group.get(page))
    }

    fn find(&self, page: PageNumber, from: From) -> Found {
        match self.unwritten(page) {
            Some(Change::Put(contents)) => return Found::InMemory(contents.clone()),
            Some(Change::Discard) => return Found::AtHome,
            None => {}
        }
        match self.table.get(page) {
            Some(Entry { memory: Some(contents), sequence, .. })
                if from == From::Memory || *sequence > self.chain.written() =>
            {
                Found::InMemory(contents.clone())
            }
            Some(entry) => Found::Staged(entry.clone()),
            None => Found::AtHome,
        }
    }

    /// Takes the next changes of the group into an extent.
    fn enter(&mut self, room: Room) -> (Header, Vec<Buffer>, Appended) {
        let (puts, discards) = self.group.take(ENTRIES_MAX, room.pages);
        let is_last = self.group.is_empty() && self.epoch != NO_EPOCH;
        let durable = self.chain.durable();
        let sequence = self.chain.assign(puts.len() + discards.len(), is_last);
        let (position, mut superseded) = (room.position, Vec::new());
        let mut pages: Vec<(PageNumber, u32)> = Vec::with_capacity(puts.len());
        let mut contents = Vec::with_capacity(puts.len());
        for (index, (page, buffer)) in puts.into_iter().enumerate() {
            let sum = checksum(page, &buffer);
            let slot = Slot { extent: position, index };
            let entry = Entry { sequence, slot, sum, memory: Some(buffer.clone()) };
            superseded.extend(self.table.put(page, entry));
            pages.push((page, sum));
            contents.push(buffer);
        }
        let rewritten = superseded.len() as u64;
        for page in &discards {
            let older = self.table.remove(*page);
            if !Defect::DiscardKeepsSlot.is_seeded() {
                superseded.extend(older);
            }
        }
        let numbers = pages.iter().map(|(page, _)| *page).collect();
        let appended = Appended {
            position,
            sequence,
            pages: numbers,
            discarded: discards.clone(),
            superseded,
            rewritten,
            ends_group: is_last,
            seal: 0,
        };
        let header =
            Header { epoch: self.epoch, sequence, durable, position, is_last, pages, discards, seal: 0 };
        (header, contents, appended)
    }

    fn wrote(&mut self, header: &Header, is_durable: bool, keep_pages: usize) {
        self.chain.wrote(header.sequence);
        if is_durable {
            self.chain.flushed(header.sequence);
        }
        let pages = header.pages.iter().map(|(page, _)| *page);
        let keep_pages = if header.epoch == NO_EPOCH { 0 } else { keep_pages };
        self.table.written(header.sequence, pages, keep_pages);
    }
}
