use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use nandle_io::runtime::{AsyncDevice, Handle};
use nandle_io::{Buffer, BufferMut, DeviceId, Durability, Operation, Shape, WriteBuffers};

use crate::defects::Defect;
use crate::signal::Signal;
use crate::{BLOCK_BYTES, PageError, Stats};

/// The store's device: counts what goes there, joins flushes that are asked for at the same time, and stops for good
/// when a write or a flush failed.
pub(crate) struct Disk {
    device: AsyncDevice,
    shape: Shape,
    handle: Handle,
    first_failure: RefCell<Option<PageError>>,
    flushes: Flushes,
    changed: Signal,
    counts: Cell<Stats>,
    read_only: bool,
}

/// Flushes are numbered in the order in which they start; one runs at a time.
#[derive(Debug, Default)]
struct Flushes {
    started: Cell<u64>,
    finished: Cell<u64>,
}

impl Disk {
    pub(crate) fn new(handle: &Handle, id: DeviceId, read_only: bool) -> Result<Rc<Self>, PageError> {
        let device = handle.device(id);
        let shape = device.shape().ok_or(PageError::NoDevice { index: id.index() })?;
        if !(BLOCK_BYTES as u64).is_multiple_of(shape.logical_block_bytes) {
            return Err(PageError::LogicalBlock { got: shape.logical_block_bytes, expected: BLOCK_BYTES });
        }
        Ok(Rc::new(Self {
            device,
            shape,
            handle: handle.clone(),
            first_failure: RefCell::default(),
            flushes: Flushes::default(),
            changed: Signal::default(),
            counts: Cell::default(),
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
        self.counts.get()
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Stats)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// An error once a write or a flush has failed, or if nothing may be written at all.
    pub(crate) fn check_writable(&self) -> Result<(), PageError> {
        match &*self.first_failure.borrow() {
            Some(first) => Err(PageError::Latched { first: Box::new(first.clone()) }),
            None if self.read_only => Err(PageError::ReadOnly),
            None => Ok(()),
        }
    }

    /// Stops everything that writes.
    pub(crate) fn latch(&self, error: &PageError) {
        self.first_failure.borrow_mut().get_or_insert_with(|| error.clone());
        self.changed.notify();
    }

    /// Writes; the request is on its way when this returns.
    pub(crate) fn write(
        self: &Rc<Self>,
        action: &'static str,
        offset_bytes: u64,
        from: WriteBuffers,
    ) -> impl Future<Output = Result<(), PageError>> + use<> {
        let length_bytes: usize = from.iter().map(Buffer::len).sum();
        let reply = self.check_writable().map(|()| {
            self.count(|stats| {
                stats.device_writes += 1;
                stats.device_written_bytes += length_bytes as u64;
            });
            self.device.request(Operation::Write { offset_bytes, from, durability: Durability::Volatile })
        });
        let disk = Rc::clone(self);
        async move {
            let result = reply?.await.result.map_err(PageError::device(action));
            result.inspect_err(|error| disk.latch(error))
        }
    }

    /// Reads; the request is on its way when this returns.
    pub(crate) fn read(
        &self,
        action: &'static str,
        offset_bytes: u64,
        into: BufferMut,
    ) -> impl Future<Output = Result<Buffer, PageError>> + use<> {
        self.count(|stats| {
            stats.device_reads += 1;
            stats.device_read_bytes += into.len() as u64;
        });
        let reply = self.device.read(offset_bytes, into);
        async move {
            let (buffer, result) = reply.await;
            result.map(|()| buffer.freeze()).map_err(PageError::device(action))
        }
    }

    /// Tells the device that a range is needed no more, where it wants to know.
    pub(crate) async fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), PageError> {
        self.check_writable()?;
        if !self.shape.discards {
            return Ok(());
        }
        let result = self.device.discard(offset_bytes, length_bytes).await;
        result.map_err(PageError::device("discarding pages")).inspect_err(|error| self.latch(error))
    }

    /// Makes durable what had been written when this was called: waits for a flush that started afterwards, its own
    /// or one that others asked for.
    pub(crate) async fn flush(self: &Rc<Self>) -> Result<(), PageError> {
        let needed = self.flushes.started.get() + 1;
        while self.flushes.finished.get() < needed {
            self.check_writable()?;
            if self.flushes.started.get() == self.flushes.finished.get() {
                self.start_flush();
            }
            let finished = self.flushes.finished.get();
            let moved_on = || self.flushes.finished.get() > finished || self.first_failure.borrow().is_some();
            self.changed.wait(|| moved_on().then_some(())).await;
        }
        Ok(())
    }

    /// In a task of its own, so that it ends even when nobody waits for it any more.
    fn start_flush(self: &Rc<Self>) {
        self.flushes.started.set(self.flushes.started.get() + 1);
        self.count(|stats| stats.device_flushes += 1);
        let reply = self.device.request(Operation::Flush);
        let disk = Rc::clone(self);
        self.handle.spawn_named("flush of a page store", async move {
            match reply.await.result.map_err(PageError::device("flushing")) {
                Ok(()) => disk.flushes.finished.set(disk.flushes.started.get()),
                Err(_) if Defect::FailedFlushForgotten.is_seeded() => {
                    disk.flushes.finished.set(disk.flushes.started.get());
                }
                Err(error) => disk.latch(&error),
            }
            disk.changed.notify();
        });
    }
}
