use smallvec::SmallVec;

use super::cut::Owners;
use super::geometry::Leg;
use crate::{BufferMut, Cause, Completion, DeviceId, IoError, Nanos, Operation, ReadBuffers};

/// Request to an array whose parts are in flight.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) device: DeviceId,
    pub(super) token: u64,
    pub(super) submitted_at: Nanos,
    pub(super) held: Held,
    pub(super) parts_left: usize,
    pub(super) completed_at: Nanos,
    /// Cause of the first failed part.
    pub(super) cause: Option<Cause>,
}

/// Part of the request kept by the array.
#[derive(Debug)]
pub(super) enum Held {
    /// Fragments of a read's buffers that have come back.
    Read { offset_bytes: u64, owners: Owners, fragments: Vec<Option<BufferMut>> },
    /// Any other operation, whole: its parts have their own handles.
    Whole(Operation),
}

/// Request to the inner world.
#[derive(Debug)]
pub(super) enum Part {
    /// Request to a plain device, passed on.
    Plain { token: u64, submitted_at: Nanos },
    /// Part of a joint.
    Shared {
        joint: usize,
        array: usize,
        column: usize,
        leg: Leg,
        fragments: SmallVec<[usize; 1]>,
        retried: bool,
    },
}

impl Joint {
    /// Records the completion of a part.
    pub(super) fn finish(&mut self, numbers: &[usize], at: Nanos, cause: Option<Cause>, done: Operation) {
        self.parts_left = self.parts_left.saturating_sub(1);
        self.completed_at = self.completed_at.max(at);
        self.cause = self.cause.take().or(cause);
        if let Operation::Read { into, .. } = done {
            self.take_back(numbers, into);
        }
    }

    /// Takes back the buffers of a part of a read.
    fn take_back(&mut self, numbers: &[usize], buffers: ReadBuffers) {
        let Held::Read { fragments, .. } = &mut self.held else { return };
        for (number, buffer) in numbers.iter().zip(buffers) {
            if let Some(place) = fragments.get_mut(*number) {
                *place = Some(buffer);
            }
        }
    }

    pub(super) fn complete(self) -> Completion {
        let operation = match self.held {
            Held::Whole(operation) => operation,
            Held::Read { offset_bytes, owners, fragments } => {
                Operation::Read { offset_bytes, into: owners.join(fragments) }
            }
        };
        Completion {
            token: self.token,
            device: self.device,
            submitted_at: self.submitted_at,
            completed_at: self.completed_at,
            result: self.cause.map_or(Ok(()), |cause| Err(IoError::new(&operation, cause))),
            operation,
        }
    }
}
