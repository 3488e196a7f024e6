use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::executor::Core;
use super::requests::Reaction;
use crate::{Buffer, BufferMut, Completion, Device, DeviceId, IoError, Operation, ReadBuffers, Shape};

/// Asynchronous device for tasks.
///
/// A method submits its request at once; the future only waits for it. So two requests made before
/// the first is awaited run concurrently. If a future is dropped, its request still completes, and
/// its buffers then return to their arena.
#[derive(Clone)]
pub struct AsyncDevice {
    core: Rc<Core>,
    id: DeviceId,
}

/// Future of a request's completion.
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

/// Result of a request whose buffers are not returned.
type Outcome = Result<(), IoError>;

impl AsyncDevice {
    pub(super) fn new(core: Rc<Core>, id: DeviceId) -> Self {
        Self { core, id }
    }

    /// Number in the runtime's world.
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// Capacity and capabilities; `None` if the world has no such device.
    pub fn shape(&self) -> Option<Shape> {
        let io = self.core.io.borrow();
        io.devices().get(self.id.index() as usize).map(|device: &Device| device.shape.clone())
    }

    /// Submits any operation.
    pub fn request(&self, operation: Operation) -> Reply {
        let mut io = self.core.io.borrow_mut();
        let reaction = self.core.requests.borrow_mut().start(&mut **io, self.id, operation);
        Reply { reaction }
    }

    /// Reads into one buffer, which is returned even after an error.
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

    /// Reads into buffers in order, which are returned even after an error.
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

    /// Writes from one buffer; made durable by a later flush.
    pub fn write(&self, offset_bytes: u64, from: Buffer) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::write(offset_bytes, from))
    }

    /// Writes from one buffer; durable when it completes.
    pub fn durable_write(&self, offset_bytes: u64, from: Buffer) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::durable_write(offset_bytes, from))
    }

    /// Makes exactly the writes durable that completed before this call.
    pub fn flush(&self) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::Flush)
    }

    /// Marks the contents of a range as no longer needed.
    pub fn discard(&self, offset_bytes: u64, length_bytes: u64) -> impl Future<Output = Outcome> + use<> {
        self.outcome(Operation::Discard { offset_bytes, length_bytes })
    }

    fn outcome(&self, operation: Operation) -> impl Future<Output = Outcome> + use<> {
        let reply = self.request(operation);
        async move { reply.await.result }
    }
}
