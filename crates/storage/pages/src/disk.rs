#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use nandle_io::runtime::{AsyncDevice, Handle};
use nandle_io::{
    Access, Buffer, BufferMut, DeviceId, Durability, DurableWrites, Operation, Shape, WriteBuffers,
};

use crate::defects::Defect;
use crate::parts::{Parts, ReadParts, WriteParts};
use crate::policy::Task;
use crate::signal::Signal;
use crate::{BLOCK_BYTES, PageError, Stats};

/// The store's device: counts what goes there, lets calls that wait for a flush at the same time share it, and stops for good
/// when a write or a flush failed.
pub(crate) struct Disk {
    device: AsyncDevice,
    parts: Parts,
    shape: Shape,
    handle: Handle,
    first_failure: RefCell<Option<PageError>>,
    /// Runs when the first failure comes.
    on_failure: RefCell<Option<Box<dyn FnOnce()>>>,
    writes: Writes,
    changed: Signal,
    counts: RefCell<Stats>,
    read_only: bool,
}

/// A flush at the device.
#[derive(Debug)]
struct Flush {
    /// How many writes it makes durable.
    covers: u64,
    has_succeeded: bool,
}

/// How many writes were seen to complete, and how many of them flushes cover.
#[derive(Debug)]
struct Writes {
    completed: Cell<u64>,
    /// Flushes at the device, in the order in which they were sent. A later one counts for nothing before those in front of
    /// it have succeeded: what a failed flush was to keep may be lost even if the next one succeeds.
    flushes: RefCell<VecDeque<Flush>>,
    /// How many may be there.
    flush_depth: Cell<usize>,
    durable: Cell<u64>,
    /// How many wait for a flush.
    waiting: Cell<usize>,
}

impl Default for Writes {
    /// What had the device before may have left something volatile: that counts as a write.
    fn default() -> Self {
        Self {
            completed: Cell::new(1),
            flushes: RefCell::default(),
            flush_depth: Cell::new(1),
            durable: Cell::default(),
            waiting: Cell::default(),
        }
    }
}

impl Disk {
    pub(crate) fn new(handle: &Handle, id: DeviceId, read_only: bool) -> Result<Rc<Self>, PageError> {
        let device = handle.device(id);
        let shape = device.shape().ok_or(PageError::NoDevice { index: id.index() })?;
        if !(BLOCK_BYTES as u64).is_multiple_of(shape.logical_block_bytes) {
            return Err(PageError::LogicalBlock { got: shape.logical_block_bytes, expected: BLOCK_BYTES });
        }
        let counts = Stats { takes_discards: shape.discards, ..Stats::default() };
        Ok(Rc::new(Self {
            parts: Parts::new(device.clone(), &shape),
            device,
            shape,
            handle: handle.clone(),
            first_failure: RefCell::default(),
            on_failure: RefCell::default(),
            writes: Writes::default(),
            changed: Signal::default(),
            counts: RefCell::new(counts),
            read_only,
        }))
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn counts(&self) -> Stats {
        *self.counts.borrow()
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut self.counts.borrow_mut());
    }

    /// An error once a write or a flush has failed, or if nothing may be written at all.
    pub(crate) fn check_writable(&self) -> Result<(), PageError> {
        self.check_running()?;
        if self.read_only { Err(PageError::ReadOnly) } else { Ok(()) }
    }

    /// An error once a write or a flush has failed.
    pub(crate) fn check_running(&self) -> Result<(), PageError> {
        match &*self.first_failure.borrow() {
            Some(first) => Err(PageError::Latched { first: Box::new(first.clone()) }),
            None => Ok(()),
        }
    }

    /// Stops the store for good.
    pub(crate) fn latch(&self, error: &PageError) {
        self.first_failure.borrow_mut().get_or_insert_with(|| error.clone());
        if let Some(run) = self.on_failure.take() {
            run();
        }
        self.changed.notify();
    }

    /// Runs `action` when the store stops; at once if it has.
    pub(crate) fn on_failure(&self, action: impl FnOnce() + 'static) {
        if self.check_running().is_err() {
            return action();
        }
        *self.on_failure.borrow_mut() = Some(Box::new(action));
    }

    /// Writes; the request is on its way when this returns.
    pub(crate) fn write(
        self: &Rc<Self>,
        action: &'static str,
        offset_bytes: u64,
        from: WriteBuffers,
    ) -> Writing {
        self.send(action, offset_bytes, from, Durability::Volatile)
    }

    /// The same; with [`Durability::Durable`] it is durable when it completes, and needs no flush of the caller's.
    pub(crate) fn send(
        self: &Rc<Self>,
        action: &'static str,
        offset_bytes: u64,
        from: WriteBuffers,
        durability: Durability,
    ) -> Writing {
        let length_bytes: usize = from.iter().map(Buffer::len).sum();
        debug_assert!(is_in_blocks(offset_bytes, length_bytes), "{length_bytes} bytes at {offset_bytes}");
        let of_request = if self.takes_durable_writes() { durability } else { Durability::Volatile };
        let parts = self.check_writable().map(|()| {
            let parts = self.parts.write(offset_bytes, from, of_request);
            self.count(|stats| {
                stats.device_writes += parts.requests();
                stats.device_written_bytes += length_bytes as u64;
                stats.device_flushes += u64::from(of_request == Durability::Durable);
            });
            parts
        });
        let needs_flush = durability != of_request;
        Writing { disk: Rc::clone(self), action, of_request, needs_flush, flushing: None, parts: Some(parts) }
    }

    /// Whether a durable write may be one request. Where it is a write and a sync, or goes through a page cache, its sync
    /// can take the error of an earlier write, which the system reports once per open file. A flush that overlaps would then
    /// succeed, and acknowledge what is lost. So there such a write shares the store's flushes.
    fn takes_durable_writes(&self) -> bool {
        self.shape.access == Access::Direct && self.shape.durable_writes != DurableWrites::WriteThenFlush
    }

    /// Makes the device's new length durable, and all that was written before: flushes although every write is durable.
    pub(crate) async fn flush_length(self: &Rc<Self>) -> Result<(), PageError> {
        self.writes.completed.update(|completed| completed + 1);
        self.flush().await
    }

    /// Reads; the request is on its way when this returns.
    pub(crate) fn read(&self, action: &'static str, offset_bytes: u64, into: BufferMut) -> Reading {
        let length_bytes = into.len();
        debug_assert!(is_in_blocks(offset_bytes, length_bytes), "{length_bytes} bytes at {offset_bytes}");
        let parts = self.parts.read(offset_bytes, into);
        self.count(|stats| {
            stats.device_reads += parts.requests();
            stats.device_read_bytes += length_bytes as u64;
        });
        Reading { action, parts }
    }

    /// Tells the device that a range is needed no more, where it wants to know.
    pub(crate) async fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), PageError> {
        self.check_writable()?;
        if !self.counts.borrow().takes_discards {
            return Ok(());
        }
        let result = self.device.discard(offset_bytes, length_bytes).await;
        match result {
            // Nothing was lost: the pages hold what they held.
            Err(refused) if refused.cause.is_unsupported() => {
                self.count(|stats| stats.takes_discards = false);
                return Ok(());
            }
            Ok(()) => self.count(|stats| stats.device_discards += 1),
            Err(_) => {}
        }
        self.writes.completed.update(|completed| completed + 1);
        result.map_err(PageError::device("discarding pages")).inspect_err(|error| self.latch(error))
    }

    /// Makes durable what had been written when this was called: waits for a flush that covers it, its own or one that
    /// others asked for.
    pub(crate) async fn flush(self: &Rc<Self>) -> Result<(), PageError> {
        self.flush_when(|| true).await
    }

    /// The same, but leaves it to other callers to ask for the flush as long as it isn't urgent. What makes it urgent is followed by a
    /// [`recheck`](Disk::recheck).
    pub(crate) async fn flush_when(self: &Rc<Self>, is_urgent: impl Fn() -> bool) -> Result<(), PageError> {
        let writes = &self.writes;
        let needed = writes.completed.get();
        let _waiting = Waiting::among(&writes.waiting);
        while writes.durable.get() < needed {
            self.check_writable()?;
            if writes.may_flush(needed) && is_urgent() {
                self.start_flush();
            }
            let durable = writes.durable.get();
            let moved_on = || {
                let may_start = writes.may_flush(needed) && is_urgent();
                writes.durable.get() > durable || may_start || self.first_failure.borrow().is_some()
            };
            self.changed.wait(|| moved_on().then_some(())).await;
        }
        debug_assert!(writes.durable.get() >= needed, "a flush covered {needed} writes");
        self.check_writable()
    }

    /// How many flushes may be at the device at the same time, one if nothing else is said. The system joins those that wait
    /// for one that runs, so that the next begins in the moment in which it ends. Through a page cache it is always one: of two
    /// calls that overlap the system tells only one that writing back has failed, and the other would count.
    pub(crate) fn set_flush_depth(&self, flushes: usize) {
        debug_assert!(flushes > 0, "a write needs a flush");
        let is_direct = self.shape.access == Access::Direct;
        self.writes.flush_depth.set(if is_direct { flushes } else { 1 });
    }

    /// Lets callers that leave a flush to others find out whether it is urgent by now.
    pub(crate) fn recheck(&self) {
        self.changed.notify();
    }

    /// Whether flushes cover every write that was seen to complete.
    pub(crate) fn is_all_durable(&self) -> bool {
        self.writes.durable.get() >= self.writes.completed.get()
    }

    /// Whether a flush is awaited: then one that flushes does it for both.
    pub(crate) fn flush_is_awaited(&self) -> bool {
        self.writes.waiting.get() > 0
    }

    /// In a task of its own, so that it ends even when it isn't awaited any more.
    fn start_flush(self: &Rc<Self>) {
        let covers = self.writes.completed.get();
        debug_assert!(covers > self.writes.durable.get(), "a flush that covers nothing new isn't sent");
        self.writes.flushes.borrow_mut().push_back(Flush { covers, has_succeeded: false });
        self.count(|stats| stats.device_flushes += 1);
        let reply = self.device.request(Operation::Flush);
        let disk = Rc::clone(self);
        self.handle.spawn_named("flush of a page store", async move {
            let result = reply.await.result.map_err(PageError::device("flushing"));
            match result {
                Err(error) if !Defect::FailedFlushForgotten.is_seeded() => disk.latch(&error),
                Ok(()) | Err(_) => disk.writes.flushed(covers),
            }
            disk.changed.notify();
        });
    }
}

impl Writes {
    /// Whether there is room for a flush, and none at the device covers so many writes.
    fn may_flush(&self, needed: u64) -> bool {
        let flushes = self.flushes.borrow();
        flushes.len() < self.flush_depth.get() && flushes.back().is_none_or(|last| last.covers < needed)
    }

    /// The flush that covers so many writes has succeeded.
    fn flushed(&self, covers: u64) {
        let mut flushes = self.flushes.borrow_mut();
        let flush = flushes.iter_mut().find(|flush| flush.covers == covers);
        debug_assert!(flush.is_some(), "a flush of {covers} writes was at the device");
        if let Some(flush) = flush {
            debug_assert!(!flush.has_succeeded, "a flush of {covers} writes succeeds once");
            flush.has_succeeded = true;
        }
        while let Some(first) = flushes.pop_front_if(|first| first.has_succeeded) {
            debug_assert!(first.covers > self.durable.get(), "each flush covers more than those before it");
            self.durable.set(first.covers);
        }
    }
}

/// Whether a request begins and ends where blocks do.
fn is_in_blocks(offset_bytes: u64, length_bytes: usize) -> bool {
    length_bytes > 0
        && offset_bytes.is_multiple_of(BLOCK_BYTES as u64)
        && length_bytes.is_multiple_of(BLOCK_BYTES)
}

/// A caller that waits, as long as it lives.
struct Waiting<'a>(&'a Cell<usize>);

impl<'a> Waiting<'a> {
    fn among(waiting: &'a Cell<usize>) -> Self {
        waiting.update(|waiting| waiting + 1);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        debug_assert!(self.0.get() > 0, "a caller that waits counts itself");
        self.0.update(|waiting| waiting - 1);
    }
}

/// A write on its way. It goes on when this is dropped.
#[must_use = "what became of the write is lost"]
pub(crate) struct Writing {
    disk: Rc<Disk>,
    action: &'static str,
    /// Of the request, which a flush may have to follow.
    of_request: Durability,
    needs_flush: bool,
    flushing: Option<Task<'static, ()>>,
    /// Or why there is no request; `None` when it is done.
    parts: Option<Result<WriteParts, PageError>>,
}

impl Writing {
    fn poll_parts(&mut self, context: &mut Context<'_>) -> Poll<Result<(), PageError>> {
        let result = match &mut self.parts {
            Some(Ok(parts)) => ready!(Pin::new(parts).poll(context)),
            Some(Err(refused)) => return Poll::Ready(Err(refused.clone())),
            None => return Poll::Ready(Ok(())),
        };
        self.parts = None;
        if self.of_request == Durability::Volatile {
            self.disk.writes.completed.update(|completed| completed + 1);
        }
        let result = result.map_err(PageError::device(self.action));
        Poll::Ready(result.inspect_err(|error| self.disk.latch(error)))
    }
}

impl Future for Writing {
    type Output = Result<(), PageError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let written = ready!(self.poll_parts(context));
        if written.is_err() || !self.needs_flush {
            return Poll::Ready(written);
        }
        let disk = Rc::clone(&self.disk);
        let flushing = self.flushing.get_or_insert_with(|| Box::pin(async move { disk.flush().await }));
        flushing.as_mut().poll(context)
    }
}

/// A read on its way.
#[must_use = "the buffer comes back with it"]
pub(crate) struct Reading {
    action: &'static str,
    parts: ReadParts,
}

impl Future for Reading {
    type Output = Result<Buffer, PageError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.parts).poll(context));
        Poll::Ready(result.map_err(PageError::device(self.action)))
    }
}
