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
