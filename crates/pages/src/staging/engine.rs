use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, ready};
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, BufferMut};
use rustc_hash::FxHashSet;

use super::append::Sent;
use super::header::NO_EPOCH;
use super::order::Order;
use super::space::{Placement, Slot, Space};
use super::table::{Entry, Table};
use super::{drain, recover, renew};
use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::extents::{Chain, Gather, Rotation};
use crate::home::{Home, Place};
use crate::label::Label;
use crate::page::checksum;
use crate::policy::{Parts, Policy, Task};
use crate::signal::{Signal, Turn};
use crate::{Batch, OpenOptions, PageError, PageNumber, Stats};

/// A policy that stages pages; see the [module](super).
pub(crate) struct Staging {
    shared: Rc<Shared>,
}

/// What makes one staging policy differ from another.
pub(crate) struct Way {
    pub(crate) placement: Placement,
    pub(crate) order: Box<dyn Order>,
    /// All pages stay in memory until they are home, whatever the options say.
    pub(crate) keeps_memory: bool,
    pub(crate) draining: Draining,
}

/// When pages go home in the background, in parts of the staging area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draining {
    /// Draining starts when less than 1/this is free; 1: at once.
    pub(crate) starts_below: u64,
    /// It ends when more than 1/this is free.
    pub(crate) ends_above: u64,
    /// A ledger is written when 1/this could be given back.
    pub(crate) settles_at: u64,
}

/// What the tasks of a staging policy share.
pub(super) struct Shared {
    pub(super) home: Rc<Home>,
    pub(super) disk: Rc<Disk>,
    pub(super) label: Label,
    pub(super) options: OpenOptions,
    pub(super) arena: Arena,
    pub(super) placement: Placement,
    /// Staged pages whose contents may stay in memory.
    pub(super) keep_pages: usize,
    pub(super) draining: Draining,
    pub(super) state: RefCell<State>,
    /// Something in the state that others may wait for is different.
    pub(super) changed: Signal,
    pub(super) push_turn: Turn,
    pub(super) settle_turn: Turn,
    pub(super) is_flushing_ahead: Cell<bool>,
    /// A worker brings everything home.
    pub(super) is_clearing: Cell<bool>,
}

pub(super) struct State {
    pub(super) chain: Chain,
    pub(super) table: Table,
    pub(super) space: Space,
    pub(super) order: Box<dyn Order>,
    /// Batches that will be the next group.
    pub(super) gather: Gather,
    /// What is left of the group that is being written.
    pub(super) pushing: Gather,
    /// Pages of that group that are in the table and not in the order yet.
    pub(super) unordered: Vec<PageNumber>,
    /// Extents on their way to the device, by sequence, and whether a task waits for them.
    pub(super) extents: VecDeque<Sent>,
    pub(super) is_waiting_for_extents: bool,
    /// Pages on their way home.
    pub(super) homing: FxHashSet<PageNumber>,
    /// Slots whose page was written home and not flushed there yet, as far as is known.
    pub(super) homed: Vec<Slot>,
    /// How often slots were given back.
    pub(super) settlings: u64,
    /// Slots that the settling that goes on will free.
    pub(super) settling: usize,
    /// Slots with an older version, and the sequence of the newer one.
    pub(super) superseded: Vec<(Slot, u64)>,
    /// Of the ledger.
    pub(super) epoch: u64,
    /// Of extents that are written now: the same, or none for a [renewal](renew).
    pub(super) extents_epoch: u64,
    pub(super) rotation: Rotation,
    pub(super) workers: usize,
    /// How many can't wait until others flush.
    pub(super) hurrying: usize,
    pub(super) is_draining: bool,
    pub(super) is_stopped: bool,
}

impl Staging {
    /// Opens the staging area of a store, and recovers it.
    pub(crate) async fn open(parts: Parts) -> Result<Self, PageError> {
        let way = crate::policy::way(parts.home.label(), &parts.options);
        let mut recovered = recover::recover(&parts, way.placement).await?;
        if parts.options.read_only {
            recovered = recovered.with_tail();
        }
        let Way { placement, mut order, keeps_memory, draining } = way;
        recovered.table.pages().for_each(|page| order.added(page));
        let state = State {
            chain: Chain::continued(recovered.durable, recovered.end),
            table: recovered.table,
            space: recovered.space,
            order,
            gather: Gather::default(),
            pushing: Gather::default(),
            unordered: Vec::new(),
            extents: VecDeque::new(),
            is_waiting_for_extents: false,
            homing: FxHashSet::default(),
            homed: Vec::new(),
            settlings: 0,
            settling: 0,
            superseded: recovered.superseded,
            epoch: recovered.epoch,
            extents_epoch: NO_EPOCH,
            rotation: recovered.rotation,
            workers: 0,
            hurrying: 0,
            is_draining: false,
            is_stopped: false,
        };
        // The rest of the memory is for clients and for what is on its way.
        let memory_bytes = parts.options.memory_bytes;
        let keep_bytes =
            if keeps_memory { memory_bytes / 2 } else { parts.options.keep_bytes.min(memory_bytes / 4) };
        let keep_pages = keep_bytes / parts.home.label().page_length();
        let shared = Rc::new(Shared {
            disk: Rc::clone(parts.home.disk()),
            label: parts.home.label().clone(),
            home: parts.home,
            options: parts.options,
            arena: parts.arena,
            placement,
            keep_pages,
            draining,
            state: RefCell::new(state),
            changed: Signal::default(),
            push_turn: Turn::default(),
            settle_turn: Turn::default(),
            is_flushing_ahead: Cell::default(),
            is_clearing: Cell::default(),
        });
        if !shared.options.read_only {
            // What goes on in the background must not go on after a failure.
            renew::begin(&shared, &recovered.tail).await.inspect_err(|error| shared.disk.latch(error))?;
        }
        Ok(Self { shared })
    }

    /// Takes a batch in, if there is room for it and it doesn't make the next group full; else gives it back.
    fn take_in(&self, batch: Batch) -> Result<(), Batch> {
        let most =
            self.largest_batch().min(self.shared.options.gather_bytes / self.shared.label.page_length());
        if self.shared.state.borrow().gather.len() + batch.len() >= most {
            return Err(batch);
        }
        self.gather(batch);
        Ok(())
    }

    fn gather(&self, batch: Batch) {
        let absorbed = self.shared.state.borrow_mut().gather.add(batch.into_changes());
        self.shared.disk.count(|stats| stats.pages_absorbed += absorbed);
    }

    /// Pages that the staging area has room for, headers aside.
    pub(crate) fn room_pages(&self) -> u64 {
        self.shared.state.borrow().space.blocks() / self.shared.label.page_blocks()
    }

    /// Pages that are staged.
    pub(crate) fn pages(&self) -> FxHashSet<PageNumber> {
        self.shared.state.borrow().table.pages().collect()
    }

    /// Makes durable what was accepted, and which slots are dead. Returns the pages that a recovery may find in the staging
    /// area from then on, and those on their way home. Only while nobody writes.
    pub(crate) async fn bury_the_dead(&self) -> Result<FxHashSet<PageNumber>, PageError> {
        self.make_durable().await?;
        // Before the ledger: what goes home meanwhile is dead only by the next one. What was discarded on its way home
        // still arrives there.
        let mut alive = self.pages();
        alive.extend(&self.shared.state.borrow().homing);
        // Nobody writes, so nobody else flushes.
        let _hurry = self.shared.hurry();
        if !Defect::DeadUnburied.is_seeded() {
            self.shared.settle().await?;
        }
        Ok(alive)
    }

    /// Brings home in the background what is staged.
    pub(crate) fn clear(&self) {
        drain::clear(&self.shared);
    }

    /// Whether that goes on.
    pub(crate) fn is_clearing(&self) -> bool {
        self.shared.is_clearing.get()
    }

    async fn accept(&self, batch: Batch) -> Result<(), PageError> {
        let most = self.largest_batch();
        if !self.shared.options.absorb {
            self.bring_older_home(&batch).await?;
        }
        loop {
            let has_room = {
                let gather = &self.shared.state.borrow().gather;
                gather.is_empty() || gather.len() + batch.len() <= most
            };
            if has_room {
                break;
            }
            self.shared.push().await?;
        }
        self.gather(batch);
        let gathered = self.shared.state.borrow().gather.len();
        let is_full = gathered * self.shared.label.page_length() >= self.shared.options.gather_bytes;
        if is_full || gathered >= most {
            self.shared.push().await?;
        }
        Ok(())
    }

    /// Brings home what a batch would replace.
    async fn bring_older_home(&self, batch: &Batch) -> Result<(), PageError> {
        let pages: Vec<_> = batch.changes().iter().map(|(page, _)| *page).collect();
        let is_in_memory = {
            let state = self.shared.state.borrow();
            pages.iter().any(|page| state.gather.get(*page).or_else(|| state.pushing.get(*page)).is_some())
        };
        if is_in_memory {
            self.shared.push().await?;
        }
        drain::these(&self.shared, &pages).await
    }

    async fn make_durable(&self) -> Result<(), PageError> {
        let target = self.shared.push_durably().await?;
        self.shared.make_durable(target).await
    }

    async fn read_newest(
        &self,
        page: PageNumber,
        mut into: BufferMut,
        from: From,
    ) -> Result<Buffer, PageError> {
        loop {
            let found = self.shared.state.borrow().find(page, from);
            let entry = match found {
                Found::InMemory(contents) => return Ok(contents),
                Found::AtHome => return self.shared.home.read(page, into).await,
                Found::Staged(entry) => entry,
            };
            let contents = self.shared.read_slot(entry.slot, into).await?;
            let got = checksum(page, &contents);
            if got == entry.sum {
                return Ok(contents);
            }
            // The page may have gone home meanwhile, and its slot to another.
            let is_same = matches!(self.shared.state.borrow().find(page, from),
                Found::Staged(now) if now.sequence == entry.sequence);
            match contents.thaw() {
                Ok(buffer) if !is_same => into = buffer,
                _ => return Err(staged_damage(page, got, entry.sum)),
            }
        }
    }
}

pub(super) fn staged_damage(page: PageNumber, got: u32, expected: u32) -> PageError {
    PageError::Damaged { page, place: "the staging area", got, expected }
}

/// Where a page is looked for that is in more than one place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Memory,
    Device,
}

enum Found {
    InMemory(Buffer),
    Staged(Entry),
    AtHome,
}

impl State {
    fn find(&self, page: PageNumber, from: From) -> Found {
        match self.gather.get(page).or_else(|| self.pushing.get(page)) {
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
}

impl Shared {
    pub(super) fn largest_group(&self) -> usize {
        super::format::largest_group(&self.label)
    }

    pub(super) async fn read_slot(&self, slot: Slot, into: BufferMut) -> Result<Buffer, PageError> {
        let offset_bytes = self.label.offset_of(self.state.borrow().space.block_of(slot));
        self.disk.read("reading a staged page", offset_bytes, into).await
    }

    /// Makes durable all groups up to the one with this sequence.
    pub(super) async fn make_durable(&self, target: u64) -> Result<(), PageError> {
        loop {
            self.disk.check_writable()?;
            let (durable, written) = {
                let chain = &self.state.borrow().chain;
                (chain.durable(), chain.written())
            };
            if durable >= target {
                return Ok(());
            }
            if self.state.borrow().chain.written_groups() < target {
                let is_written = || self.state.borrow().chain.written_groups() >= target;
                let is_over = || is_written() || self.disk.check_writable().is_err();
                self.changed.wait(|| is_over().then_some(())).await;
                continue;
            }
            if !Defect::SkippedFlush.is_seeded() {
                self.disk.flush().await?;
            }
            self.state.borrow_mut().chain.flushed(written);
            self.changed.notify();
        }
    }
}

impl Policy for Staging {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        // Nearly always there is nothing to wait for, and a future of nothing is a small one.
        match self.take_in(batch) {
            Ok(()) => Box::pin(ready(Ok(()))),
            Err(batch) => Box::pin(self.accept(batch)),
        }
    }

    fn sync(&self) -> Task<'_, ()> {
        Box::pin(self.make_durable())
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.read_newest(page, into, From::Memory))
    }

    fn verify(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.read_newest(page, into, From::Device))
    }

    fn locate(&self, page: PageNumber) -> Option<Place> {
        let state = self.shared.state.borrow();
        match state.find(page, From::Memory) {
            Found::InMemory(_) => None,
            Found::AtHome => self.shared.home.locate(page),
            Found::Staged(entry) => {
                let offset_bytes = self.shared.label.offset_of(state.space.block_of(entry.slot));
                Some(Place { offset_bytes, sum: entry.sum })
            }
        }
    }

    fn checkpoint(&self) -> Task<'_, ()> {
        Box::pin(async {
            self.make_durable().await?;
            // What is on its way home must arrive even when nobody waits for it any more.
            let shared = Rc::clone(&self.shared);
            let homing = async move { drain::everything(&shared).await };
            self.shared.disk.handle().spawn_named("page store: checkpoint", homing).await
        })
    }

    fn largest_batch(&self) -> usize {
        self.shared.largest_group()
    }

    fn known(&self) -> Vec<PageNumber> {
        let state = self.shared.state.borrow();
        let mut pages = self.shared.home.known();
        pages.extend(state.table.pages().chain(state.gather.pages()).chain(state.pushing.pages()));
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn stats(&self, stats: &mut Stats) {
        let now = self.shared.state.borrow();
        stats.staged_pages = (now.table.len() + now.gather.len() + now.pushing.len()) as u64;
    }

    fn stop(&self) {
        self.shared.state.borrow_mut().is_stopped = true;
        self.shared.disk.look_again();
    }

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        let has_ended = || self.shared.state.borrow().workers == 0;
        Box::pin(async move { self.shared.changed.wait(|| has_ended().then_some(())).await })
    }
}
