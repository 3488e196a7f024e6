//! The host's queue. Splits long requests, and merges adjacent ones that wait for a command slot,
//! like a block layer without reordering (Linux's noop scheduler).

use std::collections::VecDeque;

use super::parameters::HostParameters;
use super::requests::RequestSlot;
use crate::timing::TimedOperation;

/// Command as the drive receives it, with its requests.
#[derive(Debug)]
pub(crate) struct HostCommand {
    pub(crate) operation: TimedOperation,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    pub(crate) requests: Vec<RequestSlot>,
}

impl HostCommand {
    fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }

    fn moves_data(&self) -> bool {
        matches!(self.operation, TimedOperation::Read | TimedOperation::Write { .. })
    }
}

/// Commands that wait for a slot, in order of arrival.
#[derive(Debug)]
pub(crate) struct HostQueue {
    split_bytes: u64,
    merge_bytes: u64,
    waiting: VecDeque<HostCommand>,
    /// Lists of finished commands, reused so that a busy queue doesn't allocate.
    spare_lists: Vec<Vec<RequestSlot>>,
    merged: u64,
}

impl HostQueue {
    pub(crate) fn new(parameters: &HostParameters) -> Self {
        Self {
            split_bytes: parameters.split_bytes,
            merge_bytes: parameters.merge_bytes,
            waiting: VecDeque::new(),
            spare_lists: Vec::new(),
            merged: 0,
        }
    }

    /// Number of commands for a request.
    pub(crate) fn commands_for(&self, operation: TimedOperation, length_bytes: u64) -> u32 {
        match operation {
            TimedOperation::Read | TimedOperation::Write { .. } => {
                super::units::saturating_u32(length_bytes.div_ceil(self.split_bytes).max(1))
            }
            TimedOperation::Flush | TimedOperation::Discard => 1,
        }
    }

    /// Length limit of a command.
    pub(crate) fn piece_bytes(&self, operation: TimedOperation, length_bytes: u64) -> u64 {
        match operation {
            TimedOperation::Read | TimedOperation::Write { .. } => self.split_bytes,
            TimedOperation::Flush | TimedOperation::Discard => length_bytes.max(1),
        }
    }

    /// Queues a command, merged into an adjacent waiting one if possible.
    pub(crate) fn push(
        &mut self,
        operation: TimedOperation,
        offset_bytes: u64,
        length_bytes: u64,
        request: RequestSlot,
    ) {
        if self.merge(operation, offset_bytes, length_bytes, request) {
            self.merged += 1;
            return;
        }
        let mut requests = self.spare_lists.pop().unwrap_or_default();
        requests.push(request);
        self.waiting.push_back(HostCommand { operation, offset_bytes, length_bytes, requests });
    }

    /// Takes the command that has waited longest.
    pub(crate) fn pop(&mut self) -> Option<HostCommand> {
        self.waiting.pop_front()
    }

    /// Recycles a finished command's list.
    pub(crate) fn recycle(&mut self, mut requests: Vec<RequestSlot>) {
        requests.clear();
        self.spare_lists.push(requests);
    }

    /// Number of requests, or parts of them, merged into other commands.
    pub(crate) fn merged(&self) -> u64 {
        self.merged
    }

    fn merge(&mut self, operation: TimedOperation, offset: u64, length: u64, request: RequestSlot) -> bool {
        let merge_bytes = self.merge_bytes;
        let fits = |waiting: &&mut HostCommand| {
            waiting.operation == operation
                && waiting.moves_data()
                && waiting.length_bytes + length <= merge_bytes
                && (waiting.end_bytes() == offset || offset + length == waiting.offset_bytes)
        };
        let Some(neighbour) = self.waiting.iter_mut().rev().find(fits) else { return false };
        neighbour.offset_bytes = neighbour.offset_bytes.min(offset);
        neighbour.length_bytes += length;
        neighbour.requests.push(request);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::Requests;
    use super::*;

    fn queue() -> HostQueue {
        HostQueue::new(&HostParameters { split_bytes: 1 << 19, merge_bytes: 1 << 19 })
    }

    #[test]
    fn neighbours_that_wait_become_one_command() {
        let (mut queue, mut requests) = (queue(), Requests::default());
        for offset in [4096, 8192, 0, 65_536] {
            let slot = requests.admit(offset, 1);
            queue.push(TimedOperation::Read, offset, 4096, slot);
        }
        let merged = queue.pop().unwrap();
        assert_eq!((merged.offset_bytes, merged.length_bytes, merged.requests.len()), (0, 12_288, 3));
        assert_eq!(queue.pop().unwrap().offset_bytes, 65_536);
    }

    #[test]
    fn a_read_does_not_join_a_write() {
        let (mut queue, mut requests) = (queue(), Requests::default());
        let slot = requests.admit(1, 1);
        queue.push(TimedOperation::Write { durable: false }, 0, 4096, slot);
        queue.push(TimedOperation::Read, 4096, 4096, slot);
        assert_eq!(queue.pop().unwrap().length_bytes, 4096);
    }

    #[test]
    fn long_requests_are_split() {
        assert_eq!(queue().commands_for(TimedOperation::Read, (2 << 20) + 1), 5);
        assert_eq!(queue().commands_for(TimedOperation::Discard, 2 << 20), 1);
    }
}
