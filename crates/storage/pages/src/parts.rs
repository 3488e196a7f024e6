//! Splits transfers longer than the device's maximum into concurrent requests.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use nandle_io::runtime::{AsyncDevice, Reply};
use nandle_io::{Buffer, BufferMut, Completion, Durability, IoError, Operation, Shape, WriteBuffers};
use smallvec::{SmallVec, smallvec};

use crate::BLOCK_BYTES;

/// Device that accepts transfers of any length.
pub(crate) struct Parts {
    device: AsyncDevice,
    longest_bytes: usize,
}

/// Pending replies, first one last. Usually one.
type Replies = SmallVec<[Reply; 1]>;

impl Parts {
    pub(crate) fn new(device: AsyncDevice, shape: &Shape) -> Self {
        let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        let largest_bytes = bytes(shape.largest_transfer_bytes);
        let grain_bytes =
            if largest_bytes < BLOCK_BYTES { bytes(shape.logical_block_bytes) } else { BLOCK_BYTES };
        // A device that accepts less than a block reports its own error.
        let longest_bytes = (largest_bytes - largest_bytes % grain_bytes).max(grain_bytes);
        debug_assert!(longest_bytes > 0, "requests have bytes: {shape:?}");
        Self { device, longest_bytes }
    }

    /// Starts all requests of a write. A durable write is durable when all requests are.
    pub(crate) fn write(
        &self,
        mut offset_bytes: u64,
        from: WriteBuffers,
        durability: Durability,
    ) -> WriteParts {
        let parts = cut(from, self.longest_bytes).into_iter();
        let mut waiting: Replies = parts
            .map(|from| {
                let operation = Operation::Write { offset_bytes, from, durability };
                offset_bytes += operation.length_bytes();
                self.device.request(operation)
            })
            .collect();
        waiting.reverse();
        WriteParts { waiting, result: Ok(()) }
    }

    /// Starts all requests of a read.
    pub(crate) fn read(&self, mut offset_bytes: u64, mut into: BufferMut) -> ReadParts {
        let mut waiting = Replies::new();
        while into.len() > self.longest_bytes {
            let part = into.split_to(self.longest_bytes);
            waiting.push(self.device.request(Operation::read(offset_bytes, part)));
            offset_bytes += self.longest_bytes as u64;
        }
        waiting.push(self.device.request(Operation::read(offset_bytes, into)));
        waiting.reverse();
        ReadParts { waiting, result: Ok(()), buffer: None }
    }
}

/// Splits buffers into parts of up to `longest_bytes`.
fn cut(from: WriteBuffers, longest_bytes: usize) -> SmallVec<[WriteBuffers; 1]> {
    let length_bytes: usize = from.iter().map(Buffer::len).sum();
    if length_bytes <= longest_bytes {
        return smallvec![from];
    }
    let (mut parts, mut part) = (SmallVec::<[WriteBuffers; 1]>::new(), WriteBuffers::new());
    let mut room_bytes = longest_bytes;
    for mut buffer in from {
        while buffer.len() > room_bytes {
            let rest = buffer.slice(room_bytes..buffer.len());
            if room_bytes > 0 {
                part.push(buffer.slice(0..room_bytes));
            }
            parts.push(std::mem::take(&mut part));
            (buffer, room_bytes) = (rest, longest_bytes);
        }
        room_bytes -= buffer.len();
        part.push(buffer);
    }
    parts.push(part);
    debug_assert_eq!(
        parts.iter().flatten().map(Buffer::len).sum::<usize>(),
        length_bytes,
        "no byte is lost, and none comes twice"
    );
    parts
}

/// A write in flight. Completes with its last part, and fails if any part fails.
pub(crate) struct WriteParts {
    waiting: Replies,
    result: Result<(), IoError>,
}

impl WriteParts {
    /// Number of requests.
    pub(crate) fn requests(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl Future for WriteParts {
    type Output = Result<(), IoError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { waiting, result } = self.get_mut();
        ready!(poll_each(waiting, context, |completion| keep_first_error(result, completion.result)));
        Poll::Ready(std::mem::replace(result, Ok(())))
    }
}

/// A read in flight. Completes with its last part, and fails if any part fails.
pub(crate) struct ReadParts {
    waiting: Replies,
    result: Result<(), IoError>,
    /// Contents received so far.
    buffer: Option<BufferMut>,
}

impl ReadParts {
    /// Number of requests.
    pub(crate) fn requests(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl Future for ReadParts {
    type Output = Result<Buffer, IoError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { waiting, result, buffer } = self.get_mut();
        ready!(poll_each(waiting, context, |completion| {
            keep_first_error(result, completion.result);
            let Some(part) = completion.operation.into_read_buffer() else {
                unreachable!("a completion has its request's buffers")
            };
            *buffer = Some(match buffer.take() {
                Some(begun) => joined(begun, part),
                None => part,
            });
        }));
        let Some(buffer) = buffer.take() else { unreachable!("a read has a request at least") };
        Poll::Ready(std::mem::replace(result, Ok(())).map(|()| buffer.freeze()))
    }
}

/// Polls the replies one after the other.
fn poll_each(waiting: &mut Replies, context: &mut Context<'_>, mut each: impl FnMut(Completion)) -> Poll<()> {
    while let Some(reply) = waiting.last_mut() {
        let completion = ready!(Pin::new(reply).poll(context));
        waiting.pop();
        each(completion);
    }
    Poll::Ready(())
}

fn keep_first_error(result: &mut Result<(), IoError>, next: Result<(), IoError>) {
    if result.is_ok() {
        *result = next;
    }
}

fn joined(begun: BufferMut, part: BufferMut) -> BufferMut {
    match begun.join(part) {
        Ok(whole) => whole,
        Err(_) => unreachable!("parts of one buffer come back in their order"),
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Arena;

    use super::*;

    #[test]
    fn parts_are_as_long_as_they_may_be_and_hold_everything_in_order() {
        let arena = Arena::new(1 << 16).unwrap();
        let mut next = 0_u8;
        let mut buffer = |length: usize| {
            let mut buffer = arena.allocate(length).unwrap();
            buffer.fill_with(|| {
                next = next.wrapping_add(1);
                next
            });
            buffer.freeze()
        };
        for (lengths, expected) in [
            (&[8][..], &[8][..]),
            (&[2, 3, 3], &[8]),
            (&[8, 8], &[8, 8]),
            (&[20], &[8, 8, 4]),
            (&[5, 12, 1], &[8, 8, 2]),
        ] {
            let from: WriteBuffers = lengths.iter().map(|length| buffer(*length)).collect();
            let bytes = |buffers: &[Buffer]| -> Vec<u8> {
                buffers.iter().flat_map(|buffer| buffer.to_vec()).collect()
            };
            let before = bytes(&from);
            let parts = cut(from, 8);
            let found: Vec<usize> = parts.iter().map(|part| bytes(part).len()).collect();
            assert_eq!(found, expected, "{lengths:?}");
            assert_eq!(parts.iter().flat_map(|part| bytes(part)).collect::<Vec<_>>(), before);
            assert!(parts.iter().flatten().all(|buffer| !buffer.is_empty()));
        }
    }
}
