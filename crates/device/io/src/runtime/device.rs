use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::executor::Core;
use super::requests::Reaction;
use crate::{Buffer, BufferMut, Completion, Device, DeviceId, IoError, Operation, ReadBuffers, Shape};

/// A device as tasks use it.
///
/// Every request is on its way as soon as the method is called; the future only waits for it. So two that are
/// called before the first is awaited run at the same time. A future that is dropped leaves its request to
/// complete by itself, and the buffers go back to their arena then.
#[derive(Clone)]
pub struct AsyncDevice {
    core: Rc<Core>,
    id: DeviceId,
}

/// Waits for the completion of a request.
#[must_use = "the request is carried out, but its result is lost"]
pub struct Reply {
    reaction: Rc<Reaction>,
}

impl Future for Reply {
    type Output = Completion;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Completion> {
        self.reaction.poll(context.waker())
    }
}

/// The result of a request whose buffers are not returned.
type Outcome = Result<(), IoError>;

impl AsyncDevice {
    pub(super) fn new(core: Rc<Core>, id: DeviceId) -> Self {
        Self { core, id }
    }

    /// Its number in the runtime's world.
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// What it can do; `None` when the world has no such device.
    pub fn shape(&self) -> Option<Shape> {
        let io = self.core.io.borrow();
        io.devices().get(self.id.index() as usize).map(|device: &Device| device.shape.clone())
    }

    /// Any request.
    pub fn request(&self, operation: Operation) -> Reply {
        let mut io = self.core.io.borrow_mut();
        let reaction = self.core.requests.borrow_mut().start(&mut **io, self.id, operation);
        Reply { reaction }
    }

    /// Reads into one buffer, which comes back whatever became of the read.
    pub fn read(
        &self,
        offset_bytes: u64,
        into: BufferMut,
    ) -> impl Future<Output = (BufferMut, Outcome)> + use<> {
        let reply = self.request(Operation::read(offset_bytes, into));
        async move {
            let completion = reply.await;
            let Some(buffer) = completion.operation.into_read_buffer() else {
                unreachable!("a completion has its request's buffers")
            };
            (buffer, completion.result)
        }
    }

    /// Reads into buffers, one after the other, which come back whatever became of the read.
    pub fn read_vectored(
        &self,
        offset_bytes: u64,
        into: ReadBuffers,
    ) -> impl Future<Output = (ReadBuffers, Outcome)> + use<> {
        let reply = self.request(Operation::Read { offset_bytes, into });
        async move {
            let completion = reply.await;
            let Operation::Read { into, .. } = completion.operation else {
                unreachable!("a completion has its request's operation")
            };
            (into, completion.result)
        }
    }

    /// Writes from one buffer; durable by a later flush.
    pub fn write(&self, offset_bytes: u64, from: Buffer) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::write(offset_bytes, from))
    }

    /// Writes from one buffer; durable when it is done.
    pub fn durable_write(&self, offset_bytes: u64, from: Buffer) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::durable_write(offset_bytes, from))
    }

    /// Makes durable exactly the writes that had completed before it was called.
    pub fn flush(&self) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::Flush)
    }

    /// Tells the device that the contents of a range are needed no more.
    pub fn discard(&self, offset_bytes: u64, length_bytes: u64) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::Discard { offset_bytes, length_bytes })
    }

    fn outcome(&self, operation: Operation) -> impl Future<Output = Outcome> + use<> {
        let reply = self.request(operation);
        async move { reply.await.result }
    }
}
