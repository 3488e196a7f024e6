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

/// Limits on the changes in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Maximum changes of a group.
    pub(crate) group: usize,
    /// Maximum volatile changes, except for a single larger group.
    pub(crate) at_risk: usize,
}

#[derive(Default)]
struct Gathering {
    /// Batches of the next group.
    next: Gather,
    /// Rest of the group being sent.
    group: Gather,
    /// Number of groups begun.
    begun: u64,
}

/// Extents being written, by sequence, and true if a task awaits them.
struct Sending<H> {
    sent: VecDeque<Sent<H>>,
    is_awaited: bool,
}

struct Sent<H> {
    writing: Writing,
    header: H,
    /// True if its write makes it and everything before it durable.
    is_durable: bool,
}

/// Changes of an extent.
pub(crate) struct Changes {
    pub(crate) puts: Vec<(PageNumber, Buffer)>,
    pub(crate) discards: Vec<PageNumber>,
    /// True if the group is complete.
    pub(crate) ends_group: bool,
}

impl<V: Versions> WriteLog<V> {
    /// Continues a recovered chain.
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

    /// Newest sent version of each page.
    pub(crate) fn versions(&self) -> Ref<'_, V> {
        self.versions.borrow()
    }

    pub(crate) fn versions_mut(&self) -> RefMut<'_, V> {
        self.versions.borrow_mut()
    }

    /// Maximum number of changes in a group.
    pub(crate) fn group_max(&self) -> usize {
        self.group_max
    }

    /// Returns true if everything is durable.
    pub(crate) fn is_all_durable(&self) -> bool {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.is_empty() && group.is_empty() && self.tail.assigned() == self.tail.durable()
    }

    /// Number of changes in the next group.
    pub(crate) fn gathered(&self) -> usize {
        self.gathering.borrow().next.len()
    }

    /// Pages not sent yet.
    pub(crate) fn unsent(&self) -> Vec<PageNumber> {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.pages().chain(group.pages()).collect()
    }

    /// Number of changes from which a group is sent even if no commit waits for it.
    fn gather_max(&self) -> usize {
        let gather_pages = self.context.options.gather_bytes.div_ceil(self.context.label.page_length());
        self.group_max.min(gather_pages)
    }

    /// Adds a batch that doesn't fill the next group; otherwise returns it.
    pub(crate) fn take_in(&self, batch: Batch) -> Result<(), Batch> {
        if self.gathered() + batch.len() >= self.gather_max() {
            return Err(batch);
        }
        self.gather(batch);
        Ok(())
    }

    /// Adds a batch when there is room, and sends the group once it is full.
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

    /// Counts pages that were rewritten before their older version was written or destaged.
    pub(crate) fn count_absorbed(&self, pages: u64) {
        self.context.disk.count(|stats| stats.pages_absorbed += pages);
    }

    /// Sets the maximum number of commit groups in flight.
    pub(crate) fn set_commit_groups(&self, groups: usize) {
        self.commits.set_most(groups);
    }

    /// Makes the gathered changes durable, in a group sent by this call or by another. Returns the
    /// durable sequence.
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

    /// Starts to send the gathered changes as a group. Returns their number.
    pub(crate) fn begin_group(&self) -> usize {
        let Gathering { next, group, begun } = &mut *self.gathering.borrow_mut();
        debug_assert!(group.is_empty(), "one group is sent at a time, {} are left", group.len());
        std::mem::swap(group, next);
        debug_assert!(next.is_empty(), "what was gathered is in the group");
        *begun += u64::from(!group.is_empty());
        group.len()
    }

    /// Number of changes with contents among the next `entries`; `None` at the group's end.
    pub(crate) fn puts_ahead(&self, entries: usize) -> Option<usize> {
        let group = &self.gathering.borrow().group;
        (!group.is_empty()).then(|| group.puts_ahead(entries))
    }

    /// Takes the next changes of the group: at most `entries`, of which at most `puts` have
    /// contents.
    pub(crate) fn take(&self, entries: usize, puts: usize) -> Changes {
        let group = &mut self.gathering.borrow_mut().group;
        let before = group.len();
        let (puts, discards) = group.take(entries, puts);
        debug_assert_eq!(puts.len() + discards.len() + group.len(), before, "no change is lost");
        Changes { puts, discards, ends_group: group.is_empty() }
    }

    /// Encodes the header of an extent with an assigned sequence.
    pub(crate) fn seal(&self, header: &mut V::Header) -> Result<Buffer, PageError> {
        // No group may follow an interrupted one.
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

    /// Starts the write of an extent; durably if wanted and possible in one request.
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

    /// Returns true if a durable write of this extent makes everything durable: it is a whole
    /// group, and everything before it is durable.
    fn completes_what_is_durable(&self, header: &V::Header) -> bool {
        let ChainLink { sequence, durable, is_last, .. } = header.link();
        debug_assert!(durable <= self.tail.durable(), "what is durable stays so");
        let is_next = is_last && durable + 1 == sequence;
        is_next && !(V::COMMITS_FLUSH_FOR_OTHERS && self.context.disk.flush_is_awaited())
    }

    /// Starts a task to await all extents in flight, unless one is running.
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

    /// Awaits extents in order. An extent counts only after all earlier ones, and never after a
    /// failed one.
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

    /// Returns true if a page is only in memory.
    pub(crate) fn is_in_memory(&self, page: PageNumber) -> bool {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        next.get(page).or_else(|| group.get(page)).is_some()
    }

    /// Place of a page's newest version.
    pub(crate) fn find(&self, page: PageNumber, from: From) -> Found<V::Place> {
        let Gathering { next, group, .. } = &*self.gathering.borrow();
        match next.get(page).or_else(|| group.get(page)) {
            Some(Change::Put(contents)) => Found::InMemory(contents.clone()),
            Some(Change::Discard) => Found::Absent,
            None => self.versions().find(page, from, self.tail.written()),
        }
    }

    /// Reads and checks the newest version of a page. Returns the buffer if the log has none.
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
            // The page may have moved, and its place may have been reused.
            let is_same = matches!(self.find(page, from), Found::Stored(now) if now.sequence == sequence);
            match contents.thaw() {
                Ok(buffer) if !is_same => into = buffer,
                _ => return Err(V::damage(page, got, sum)),
            }
        }
    }
}
