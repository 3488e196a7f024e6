use std::cell::{Ref, RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut, Durability, WriteBuffers};

use super::chain::Chain;
use super::commits::CommitGroups;
use super::context::Context;
use super::gather::Gather;
use super::tail::DurableTail;
use super::versions::{ExtentHeader, Found, From, Stored, Versions};
use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Writing;
use crate::extents::{ChainLink, Link};
use crate::memory::memory_of;
use crate::page::checksum;
use crate::{BLOCK_BYTES, Batch, PageError, PageNumber};

/// See the [module](super).
pub(crate) struct WriteLog<V: Versions> {
    context: Rc<Context>,
    group_max: usize,
    commits: Rc<CommitGroups>,
    pub(crate) tail: Rc<DurableTail>,
    gathering: RefCell<Gathering>,
    sending: RefCell<Sending<V::Header>>,
    versions: RefCell<V>,
}

/// How many changes a log takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most of a group.
    pub(crate) group: usize,
    /// The most that may be volatile, but for a single group with more.
    pub(crate) at_risk: usize,
}

#[derive(Default)]
struct Gathering {
    /// Batches that will be the next group.
    next: Gather,
    /// What is left of the group that is being sent.
    group: Gather,
    /// How many groups were begun.
    begun: u64,
}

/// Extents on their way to the device, by sequence, and whether a task waits for them.
struct Sending<H> {
    sent: VecDeque<Sent<H>>,
    is_awaited: bool,
}

struct Sent<H> {
    writing: Writing,
    header: H,
    /// It is durable, and all before it, when it is written.
    is_durable: bool,
}

/// Changes of an extent.
pub(crate) struct Changes {
    pub(crate) puts: Vec<(PageNumber, Buffer)>,
    pub(crate) discards: Vec<PageNumber>,
    /// Nothing is left of the group.
    pub(crate) ends_group: bool,
}

impl<V: Versions> WriteLog<V> {
    /// Continues the chain that recovery found.
    pub(crate) fn new(context: &Rc<Context>, limits: Limits, chain: Chain, versions: V) -> Rc<Self> {
        debug_assert!(limits.group > 0 && limits.at_risk > 0, "{limits:?}");
        Rc::new(Self {
            context: Rc::clone(context),
            group_max: limits.group,
            commits: CommitGroups::new(context),
            tail: DurableTail::new(context, limits.at_risk, chain),
            gathering: RefCell::default(),
            sending: RefCell::new(Sending { sent: VecDeque::new(), is_awaited: false }),
            versions: RefCell::new(versions),
        })
    }

    /// Where the newest version of each page is that was sent.
    pub(crate) fn versions(&self) -> Ref<'_, V> {
        self.versions.borrow()
    }

    pub(crate) fn versions_mut(&self) -> RefMut<'_, V> {
        self.versions.borrow_mut()
    }

    /// The most changes of a group.
    pub(crate) fn group_max(&self) -> usize {
        self.group_max
    }

    /// Whether nothing is left that could become durable.
    pub(crate) fn is_all_durable(&self) -> bool {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.is_empty() && group.is_empty() && self.tail.assigned() == self.tail.durable()
    }

    /// How many changes the next group has.
    pub(crate) fn gathered(&self) -> usize {
        self.gathering.borrow().next.len()
    }

    /// Pages that will be sent.
    pub(crate) fn unsent(&self) -> Vec<PageNumber> {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.pages().chain(group.pages()).collect()
    }

    /// From so many changes on a group is sent although no commit waits for it.
    fn gather_max(&self) -> usize {
        let gather_pages = self.context.options.gather_bytes.div_ceil(self.context.label.page_length());
        self.group_max.min(gather_pages)
    }

    /// Takes a batch in that doesn't make the next group full; else gives it back.
    pub(crate) fn take_in(&self, batch: Batch) -> Result<(), Batch> {
        if self.gathered() + batch.len() >= self.gather_max() {
            return Err(batch);
        }
        self.gather(batch);
        Ok(())
    }

    /// Takes a batch in when there is room for it, and pushes what is there when it is enough.
    pub(crate) async fn accept(
        &self,
        batch: Batch,
        push: impl AsyncFn() -> Result<u64, PageError>,
    ) -> Result<(), PageError> {
        debug_assert!(batch.len() <= self.group_max, "{} changes of {}", batch.len(), self.group_max);
        while self.gathered() > 0 && self.gathered() + batch.len() > self.group_max {
            push().await?;
        }
        self.gather(batch);
        debug_assert!(self.gathered() <= self.group_max, "{} changes of {}", self.gathered(), self.group_max);
        if self.gathered() >= self.gather_max() { push().await.map(|_| ()) } else { Ok(()) }
    }

    /// Adds changes to the next group.
    pub(crate) fn gather(&self, batch: Batch) {
        let absorbed = self.gathering.borrow_mut().next.add(batch.into_changes());
        self.count_absorbed(absorbed);
    }

    /// So many pages were written again before their older version was written or destaged.
    pub(crate) fn count_absorbed(&self, pages: u64) {
        self.context.disk.count(|stats| stats.pages_absorbed += pages);
    }

    /// So many groups of commits may be on their way at once.
    pub(crate) fn set_commit_groups(&self, groups: usize) {
        self.commits.set_most(groups);
    }

    /// Makes durable what is gathered and all before it: as a group that this call pushes, or with one that another does. Returns the
    /// sequence up to which all is durable.
    pub(crate) async fn commit(
        &self,
        push: impl AsyncFnOnce() -> Result<u64, PageError>,
    ) -> Result<u64, PageError> {
        let begun = self.gathering.borrow().begun;
        let is_sent = || {
            let gathering = self.gathering.borrow();
            gathering.next.is_empty() || gathering.begun > begun
        };
        self.context.wait_until(|| is_sent() || self.commits.may_begin()).await?;
        if is_sent() {
            let _group = self.commits.newest();
            self.context.wait_until(|| self.gathering.borrow().group.is_empty()).await?;
            let groups = self.tail.assigned_groups();
            return self.tail.make_durable(groups).await.map(|()| groups);
        }
        let _group = self.commits.begin();
        let target = push().await?;
        debug_assert!(target <= self.tail.assigned(), "what was pushed is on its way");
        self.tail.make_durable(target).await.map(|()| target)
    }

    /// What is gathered becomes the group that is sent. Returns how many changes it has.
    pub(crate) fn begin_group(&self) -> usize {
        let Gathering { next, group, begun } = &mut *self.gathering.borrow_mut();
        debug_assert!(group.is_empty(), "one group is sent at a time, {} are left", group.len());
        std::mem::swap(group, next);
        debug_assert!(next.is_empty(), "what was gathered is in the group");
        *begun += u64::from(!group.is_empty());
        group.len()
    }

    /// How many of the next `entries` changes of the group have contents; none if the group is at its end.
    pub(crate) fn puts_ahead(&self, entries: usize) -> Option<usize> {
        let group = &self.gathering.borrow().group;
        (!group.is_empty()).then(|| group.puts_ahead(entries))
    }

    /// The next changes of the group: at most `entries`, with contents at most `puts` of them.
    pub(crate) fn take(&self, entries: usize, puts: usize) -> Changes {
        let group = &mut self.gathering.borrow_mut().group;
        let before = group.len();
        let (puts, discards) = group.take(entries, puts);
        debug_assert_eq!(puts.len() + discards.len() + group.len(), before, "no change is lost");
        Changes { puts, discards, ends_group: group.is_empty() }
    }

    /// Encodes the header of an extent that has its place in the chain.
    pub(crate) fn seal(&self, header: &mut V::Header) -> Result<Buffer, PageError> {
        // A group that ends in the middle must not be followed by another.
        let latch = |error: &PageError| self.context.latch(error);
        debug_assert!(
            header.link().sequence <= self.tail.assigned(),
            "{} has its place",
            header.link().sequence
        );
        let mut block =
            memory_of(&self.context.arena, BLOCK_BYTES).map_err(PageError::from).inspect_err(latch)?;
        header.encode(self.context.label.id, &mut block);
        Ok(block.freeze())
    }

    /// Sends an extent on its way; durably if that is wanted and one request can do it.
    pub(crate) fn send(
        self: &Rc<Self>,
        action: &'static str,
        (header, block): (V::Header, Buffer),
        contents: Vec<Buffer>,
        wanted: Durability,
    ) {
        let position = header.link().position;
        let length_bytes: usize = contents.iter().map(Buffer::len).sum();
        debug_assert!(
            self.context.label.may_have_block(position + (length_bytes / BLOCK_BYTES) as u64),
            "{length_bytes} bytes behind block {position} lie in the area"
        );
        let is_durable = wanted == Durability::Durable && self.completes_what_is_durable(&header);
        let durability = if is_durable && !Defect::SkippedFlush.is_seeded() {
            Durability::Durable
        } else {
            Durability::Volatile
        };
        let mut from = WriteBuffers::with_capacity(1 + contents.len());
        from.push(block);
        from.extend(contents);
        let offset_bytes = self.context.label.offset_of(position);
        let writing = self.context.disk.send(action, offset_bytes, from, durability);
        self.wait_for(Sent { writing, header, is_durable });
    }

    /// Whether all is durable when this extent is: it is a group of its own, and everything before it is durable.
    fn completes_what_is_durable(&self, header: &V::Header) -> bool {
        let ChainLink { sequence, durable, is_last, .. } = header.link();
        debug_assert!(durable <= self.tail.durable(), "what is durable stays so");
        let is_next = is_last && durable + 1 == sequence;
        is_next && !(V::COMMITS_FLUSH_FOR_OTHERS && self.context.disk.flush_is_awaited())
    }

    /// One task waits for all extents that are on their way.
    fn wait_for(self: &Rc<Self>, sent: Sent<V::Header>) {
        let is_awaited = {
            let sending = &mut *self.sending.borrow_mut();
            debug_assert!(
                sending
                    .sent
                    .back()
                    .is_none_or(|last| last.header.link().sequence < sent.header.link().sequence),
                "extents are sent by their sequences"
            );
            sending.sent.push_back(sent);
            std::mem::replace(&mut sending.is_awaited, true)
        };
        if !is_awaited {
            let log = Rc::clone(self);
            let waiting = async move { log.wait_for_sent().await };
            self.context.disk.handle().spawn_named("page store: extents", waiting);
        }
    }

    /// Waits for them in their order: a later one counts for nothing before those in front of it, and never behind one that
    /// failed.
    async fn wait_for_sent(&self) {
        loop {
            let next = self.sending.borrow_mut().sent.pop_front();
            let Some(Sent { writing, header, is_durable }) = next else { break };
            let sequence = header.link().sequence;
            if writing.await.is_ok() && sequence == self.tail.written() + 1 {
                self.tail.wrote(sequence, is_durable);
                self.versions.borrow_mut().written(&header);
            }
            self.context.changed.notify();
        }
        self.sending.borrow_mut().is_awaited = false;
    }

    /// Whether a page is in memory alone.
    pub(crate) fn is_in_memory(&self, page: PageNumber) -> bool {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.get(page).or_else(|| group.get(page)).is_some()
    }

    /// Where the newest version of a page is.
    pub(crate) fn find(&self, page: PageNumber, from: From) -> Found<V::Place> {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        match next.get(page).or_else(|| group.get(page)) {
            Some(Change::Put(contents)) => Found::InMemory(contents.clone()),
            Some(Change::Discard) => Found::Absent,
            None => self.versions().find(page, from, self.tail.written()),
        }
    }

    /// Reads the newest version of a page, checked; gives the buffer back if the log has none.
    pub(crate) async fn read(
        &self,
        page: PageNumber,
        mut into: BufferMut,
        from: From,
        fetch: impl AsyncFn(&V::Place, BufferMut) -> Result<Buffer, PageError>,
    ) -> Result<Result<Buffer, BufferMut>, PageError> {
        debug_assert_eq!(into.len(), self.context.label.page_length(), "a buffer for a page");
        loop {
            let Stored { sequence, place, sum } = match self.find(page, from) {
                Found::InMemory(contents) => return Ok(Ok(contents)),
                Found::Absent => return Ok(Err(into)),
                Found::Stored(stored) => stored,
            };
            let contents = fetch(&place, into).await?;
            let got = checksum(page, &contents);
            if got == sum {
                return Ok(Ok(contents));
            }
            // The page may have been moved meanwhile, and its place be another's.
            let is_same = matches!(self.find(page, from), Found::Stored(now) if now.sequence == sequence);
            match contents.thaw() {
                Ok(buffer) if !is_same => into = buffer,
                _ => return Err(V::damage(page, got, sum)),
            }
        }
    }
}
