//! Commands inside the drive, in a bounded number of slots (NCQ tags, or all queues of an NVMe
//! drive together).

use slab::Slab;

use super::host_queue::HostCommand;
use super::parameters::CommandQueueParameters;
use super::units::UnitRange;

/// Number of a command slot.
pub(crate) type SlotIndex = u32;

/// Command being served.
#[derive(Debug)]
pub(crate) struct ActiveCommand {
    pub(crate) command: HostCommand,
    /// Units that the command touches.
    pub(crate) units: UnitRange,
    /// First unit of the next segment.
    pub(crate) next_unit: u32,
    /// Times at which its first units are in the buffer, as far as read-ahead fetches them.
    pub(crate) prefetched_ns: Vec<u64>,
}

impl ActiveCommand {
    /// Time at which read-ahead has fetched `unit`, if it does.
    pub(crate) fn prefetched_ns(&self, unit: u32) -> Option<u64> {
        self.prefetched_ns.get((unit - self.units.first) as usize).copied()
    }

    /// Time at which read-ahead has fetched the next segment's first unit, if it does.
    pub(crate) fn next_prefetched_ns(&self) -> Option<u64> {
        self.prefetched_ns(self.next_unit)
    }
}

/// Command slots.
#[derive(Debug)]
pub(crate) struct CommandQueue {
    slots: Slab<ActiveCommand>,
    slot_limit: u32,
    spare_lists: Vec<Vec<u64>>,
}

impl CommandQueue {
    pub(crate) fn new(parameters: &CommandQueueParameters) -> Self {
        let slot_limit = parameters.queues.saturating_mul(parameters.depth);
        Self { slots: Slab::new(), slot_limit, spare_lists: Vec::new() }
    }

    /// Returns true if a slot is free.
    pub(crate) fn has_room(&self) -> bool {
        self.slots.len() < self.slot_limit as usize
    }

    /// Returns true if no command is being served.
    pub(crate) fn is_idle(&self) -> bool {
        self.slots.is_empty()
    }

    /// Puts a command into a slot. The caller must check [`Self::has_room`] first.
    pub(crate) fn insert(&mut self, command: HostCommand, units: UnitRange) -> SlotIndex {
        debug_assert!(self.has_room(), "{} slots are taken", self.slots.len());
        let prefetched_ns = self.spare_lists.pop().unwrap_or_default();
        let active = ActiveCommand { command, units, next_unit: units.first, prefetched_ns };
        super::units::saturating_u32(self.slots.insert(active) as u64)
    }

    pub(crate) fn get_mut(&mut self, index: SlotIndex) -> Option<&mut ActiveCommand> {
        self.slots.get_mut(index as usize)
    }

    /// Frees a slot and returns its command.
    pub(crate) fn remove(&mut self, index: SlotIndex) -> Option<HostCommand> {
        let mut active = self.slots.try_remove(index as usize)?;
        active.prefetched_ns.clear();
        self.spare_lists.push(active.prefetched_ns);
        Some(active.command)
    }
}
