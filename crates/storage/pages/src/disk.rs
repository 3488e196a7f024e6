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

/// Device of a store. Counts requests, shares flushes among waiting calls, and stops permanently
/// after a failed write or flush.
pub(crate) struct Disk {
    device: AsyncDevice,
    parts: Parts,
    shape: Shape,
    handle: Handle,
    first_failure: RefCell<Option<PageError>>,
    /// Action for the first failure.
    on_failure: RefCell<Option<Box<dyn FnOnce()>>>,
    writes: Writes,
    changed: Signal,
    counts: RefCell<Stats>,
    read_only: bool,
}

/// A flush in flight.
#[derive(Debug)]
struct Flush {
    /// Number of writes that it makes durable.
    covers: u64,
    has_succeeded: bool,
}

/// Counts of completed writes, and of those covered by flushes.
#[derive(Debug)]
struct Writes {
    completed: Cell<u64>,
    /// Flushes in flight, in order. A flush counts only after all earlier ones have succeeded: data
    /// of a failed flush may be lost even if the next one succeeds.
    flushes: RefCell<VecDeque<Flush>>,
    /// Maximum flushes in flight.
    flush_depth: Cell<usize>,
    durable: Cell<u64>,
    /// Number of calls waiting for a flush.
    waiting: Cell<usize>,
}

impl Default for Writes {
    /// The device's previous user may have left volatile data, which counts as a write.
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

    /// Returns an error after a failed write or flush, and in a read-only store.
    pub(crate) fn check_writable(&self) -> Result<(), PageError> {
        self.check_running()?;
        if self.read_only { Err(PageError::ReadOnly) } else { Ok(()) }
    }

    /// Returns an error after a failed write or flush.
    pub(crate) fn check_running(&self) -> Result<(), PageError> {
        match &*self.first_failure.borrow() {
            Some(first) => Err(PageError::Latched { first: Box::new(first.clone()) }),
            None => Ok(()),
        }
    }

    /// Stops the store permanently.
    pub(crate) fn latch(&self, error: &PageError) {
        self.first_failure.borrow_mut().get_or_insert_with(|| error.clone());
        if let Some(run) = self.on_failure.take() {
            run();
        }
        self.changed.notify();
    }

    /// Runs `action` when the store stops, or now if it has stopped.
    pub(crate) fn on_failure(&self, action: impl FnOnce() + 'static) {
        if self.check_running().is_err() {
            return action();
        }
        *self.on_failure.borrow_mut() = Some(Box::new(action));
    }

    /// Starts a write.
    pub(crate) fn write(
        self: &Rc<Self>,
        action: &'static str,
        offset_bytes: u64,
        from: WriteBuffers,
    ) -> Writing {
        self.send(action, offset_bytes, from, Durability::Volatile)
    }

    /// Starts a write. With [`Durability::Durable`] it is durable at completion, without a flush by
    /// the caller.
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

    /// Returns true if durable writes may be single requests. If they consist of a write and a
    /// sync, or use a page cache, their sync may consume the error of an earlier write, which the
    /// system reports once per open file. An overlapping flush would then succeed although data is
    /// lost. Such writes therefore share the store's flushes.
    fn takes_durable_writes(&self) -> bool {
        self.shape.access == Access::Direct && self.shape.durable_writes != DurableWrites::WriteThenFlush
    }

    /// Makes the device's new length and all earlier writes durable. Flushes even if every write is
    /// durable.
    pub(crate) async fn flush_length(self: &Rc<Self>) -> Result<(), PageError> {
        self.writes.completed.update(|completed| completed + 1);
        self.flush().await
    }

    /// Starts a read.
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

    /// Discards a range on a device that supports it.
    pub(crate) async fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), PageError> {
        self.check_writable()?;
        if !self.counts.borrow().takes_discards {
            return Ok(());
        }
        let result = self.device.discard(offset_bytes, length_bytes).await;
        match result {
            // Nothing was lost: the pages still hold their contents.
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

    /// Makes all completed writes durable: waits for a flush that covers them, shared with other
    /// callers where possible.
    pub(crate) async fn flush(self: &Rc<Self>) -> Result<(), PageError> {
        self.flush_when(|| true).await
    }

    /// Like [`flush`](Self::flush), but leaves the flush to other callers while it isn't urgent.
    /// Call [`recheck`](Disk::recheck) when it becomes urgent.
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

    /// Sets the maximum number of flushes in flight; 1 by default. The system merges waiting
    /// flushes, so the next one begins as soon as the current one ends. With a page cache the
    /// maximum is always 1: of two overlapping calls only one receives a writeback error, and the
    /// other would count.
    pub(crate) fn set_flush_depth(&self, flushes: usize) {
        debug_assert!(flushes > 0, "a write needs a flush");
        let is_direct = self.shape.access == Access::Direct;
        self.writes.flush_depth.set(if is_direct { flushes } else { 1 });
    }

    /// Wakes callers that wait for others' flushes to check their urgency.
    pub(crate) fn recheck(&self) {
        self.changed.notify();
    }

    /// Returns true if flushes cover every completed write.
    pub(crate) fn is_all_durable(&self) -> bool {
        self.writes.durable.get() >= self.writes.completed.get()
    }

    /// Returns true if a call waits for a flush, which others may share.
    pub(crate) fn flush_is_awaited(&self) -> bool {
        self.writes.waiting.get() > 0
    }

    /// Starts a flush in its own task, which completes even if not awaited.
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
    /// Returns true if another flush may start, and none in flight covers `needed` writes.
    fn may_flush(&self, needed: u64) -> bool {
        let flushes = self.flushes.borrow();
        flushes.len() < self.flush_depth.get() && flushes.back().is_none_or(|last| last.covers < needed)
    }

    /// Records the success of the flush that covers `covers` writes.
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

/// Returns true if a request is aligned to blocks.
fn is_in_blocks(offset_bytes: u64, length_bytes: usize) -> bool {
    length_bytes > 0
        && offset_bytes.is_multiple_of(BLOCK_BYTES as u64)
        && length_bytes.is_multiple_of(BLOCK_BYTES)
}

/// Counts a waiting caller until dropped.
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

/// A write in flight. Continues if dropped.
#[must_use = "what became of the write is lost"]
pub(crate) struct Writing {
    disk: Rc<Disk>,
    action: &'static str,
    /// Durability of the request; a volatile one may need a flush.
    of_request: Durability,
    needs_flush: bool,
    flushing: Option<Task<'static, ()>>,
    /// Request parts, or the reason why there are none; `None` when completed.
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

/// A read in flight.
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
