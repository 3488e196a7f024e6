use crate::{Completion, DeviceId, IoError, Nanos, Operation, Request};

/// The requests in flight of one world, each in a numbered slot that owns its buffers.
#[derive(Debug)]
pub(crate) struct Slots<Extra> {
    slots: Vec<Option<InFlight<Extra>>>,
    free: Vec<u32>,
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlight<Extra> {
    pub(crate) device: DeviceId,
    pub(crate) token: u64,
    pub(crate) operation: Operation,
    pub(crate) submitted_at: Nanos,
    /// What the world keeps beside it.
    pub(crate) extra: Extra,
}

impl<Extra> Slots<Extra> {
    pub(crate) fn new(count: u32) -> Self {
        Self { slots: (0..count).map(|_| None).collect(), free: (0..count).rev().collect() }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Puts a request into a free slot. The caller has checked that there is one; otherwise it comes back.
    pub(crate) fn insert(&mut self, entry: InFlight<Extra>) -> Result<u32, InFlight<Extra>> {
        let Some(index) = self.free.pop() else { return Err(entry) };
        match self.slots.get_mut(index as usize) {
            Some(slot) => *slot = Some(entry),
            None => return Err(entry),
        }
        Ok(index)
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut InFlight<Extra>> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// Empties a slot.
    pub(crate) fn remove(&mut self, index: u32) -> Option<InFlight<Extra>> {
        let entry = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(entry)
    }
}

impl<Extra> InFlight<Extra> {
    pub(crate) fn new(device: DeviceId, request: Request, submitted_at: Nanos, extra: Extra) -> Self {
        Self { device, token: request.token, operation: request.operation, submitted_at, extra }
    }

    pub(crate) fn complete(self, completed_at: Nanos, result: Result<(), IoError>) -> Completion {
        Completion {
            token: self.token,
            device: self.device,
            submitted_at: self.submitted_at,
            completed_at,
            result,
            operation: self.operation,
        }
    }
}
