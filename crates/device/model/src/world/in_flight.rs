//! The requests that a world's devices are working on.

use nandle_io::{Completion, DeviceId, Durability, IoError, Nanos, Operation, Request};

use crate::timing::{TimedOperation, TimedRequest};

/// A request that was taken and has not completed.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) device: DeviceId,
    pub(super) request: Request,
    pub(super) submitted_at: Nanos,
}

impl InFlight {
    pub(super) fn complete(self, completed_at: Nanos, result: Result<(), IoError>) -> Completion {
        Completion {
            token: self.request.token,
            device: self.device,
            submitted_at: self.submitted_at,
            completed_at,
            result,
            operation: self.request.operation,
        }
    }

    /// What the timing half is told.
    pub(super) fn timed(&self, id: u64) -> TimedRequest {
        let operation = match &self.request.operation {
            Operation::Read { .. } => TimedOperation::Read,
            Operation::Write { durability, .. } => {
                TimedOperation::Write { durable: *durability == Durability::Durable }
            }
            Operation::Flush => TimedOperation::Flush,
            Operation::Discard { .. } => TimedOperation::Discard,
        };
        let (offset_bytes, length_bytes) =
            (self.request.operation.offset_bytes(), self.request.operation.length_bytes());
        TimedRequest { id, operation, offset_bytes, length_bytes }
    }
}

/// Requests in numbered places; a place that was freed is the next one taken.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: Vec<Option<InFlight>>,
    free: Vec<usize>,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// The number of the place is what the timing half knows the request by.
    pub(super) fn insert(&mut self, request: InFlight) -> u64 {
        if let Some(index) = self.free.pop()
            && let Some(place) = self.places.get_mut(index)
        {
            *place = Some(request);
            return index as u64;
        }
        self.places.push(Some(request));
        self.places.len() as u64 - 1
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<InFlight> {
        let index = usize::try_from(id).ok()?;
        let request = self.places.get_mut(index)?.take()?;
        self.free.push(index);
        Some(request)
    }

    /// The one that has waited longest.
    pub(super) fn oldest(&self) -> Option<&InFlight> {
        self.places.iter().flatten().min_by_key(|request| request.submitted_at)
    }
}
