use slab::Slab;

use crate::{Completion, DeviceId, IoError, Nanos, Operation, Request};

/// Requests in flight of one world, up to `capacity`, each in a numbered slot that owns its
/// buffers.
#[derive(Debug)]
pub(crate) struct Slots<Extra> {
    slots: Slab<InFlight<Extra>>,
    capacity: u32,
}

/// Request in flight.
#[derive(Debug)]
pub(crate) struct InFlight<Extra> {
    pub(crate) device: DeviceId,
    pub(crate) token: u64,
    pub(crate) operation: Operation,
    pub(crate) submitted_at: Nanos,
    /// Additional data of the world.
    pub(crate) extra: Extra,
}

impl<Extra> Slots<Extra> {
    pub(crate) fn new(capacity: u32) -> Self {
        Self { slots: Slab::with_capacity(capacity as usize), capacity }
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.capacity as usize
    }

    pub(crate) fn in_use(&self) -> usize {
        self.slots.len()
    }

    /// Puts a request into a free slot. The caller has checked that there is one; otherwise it is
    /// returned.
    pub(crate) fn insert(&mut self, entry: InFlight<Extra>) -> Result<u32, InFlight<Extra>> {
        match u32::try_from(self.slots.vacant_key()) {
            Ok(index) if index < self.capacity => {
                self.slots.insert(entry);
                Ok(index)
            }
            _ => Err(entry),
        }
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut InFlight<Extra>> {
        self.slots.get_mut(index as usize)
    }

    /// Numbers of the slots whose requests satisfy `is_one`.
    pub(crate) fn numbers(&self, is_one: impl Fn(&InFlight<Extra>) -> bool) -> Vec<u32> {
        let numbers = self.slots.iter().filter(|(_, in_flight)| is_one(in_flight));
        numbers.filter_map(|(index, _)| u32::try_from(index).ok()).collect()
    }

    /// Empties a slot.
    pub(crate) fn remove(&mut self, index: u32) -> Option<InFlight<Extra>> {
        self.slots.try_remove(index as usize)
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
