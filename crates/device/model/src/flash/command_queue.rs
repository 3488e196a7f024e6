//! Commands inside the drive: a bounded number of slots (NCQ tags, or all queues of an NVMe drive together).

use super::host_queue::HostCommand;
use super::parameters::CommandQueueParameters;
use super::units::UnitRange;

/// Number of a command slot.
pub(crate) type SlotIndex = u32;

/// A command being served.
#[derive(Debug)]
pub(crate) struct ActiveCommand {
    pub(crate) command: HostCommand,
    /// Units it touches.
    pub(crate) units: UnitRange,
    /// First unit of the next segment.
    pub(crate) next_unit: u32,
    /// When the leading units are in the drive's buffer, as far as read-ahead has brought them.
    pub(crate) prefetched_ns: Vec<u64>,
}

impl ActiveCommand {
    /// When read-ahead has brought `unit`, if it does.
    pub(crate) fn prefetched_ns(&self, unit: u32) -> Option<u64> {
        self.prefetched_ns.get((unit - self.units.first) as usize).copied()
    }

    /// When read-ahead has brought the next segment's first unit, if it does.
    pub(crate) fn next_prefetched_ns(&self) -> Option<u64> {
        self.prefetched_ns(self.next_unit)
    }
}

/// The slots.
#[derive(Debug)]
pub(crate) struct CommandQueue {
    slots: Vec<Option<ActiveCommand>>,
    free: Vec<SlotIndex>,
    slot_limit: u32,
    spare_lists: Vec<Vec<u64>>,
}

impl CommandQueue {
    pub(crate) fn new(parameters: &CommandQueueParameters) -> Self {
        let slot_limit = parameters.queues.saturating_mul(parameters.depth);
        Self { slots: Vec::new(), free: Vec::new(), slot_limit, spare_lists: Vec::new() }
    }

    /// Whether another command would find a slot.
    pub(crate) fn has_room(&self) -> bool {
        !self.free.is_empty() || (self.slots.len() as u64) < u64::from(self.slot_limit)
    }

    /// Whether no command is being served.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Gives a command a slot. The caller has checked that there is room.
    pub(crate) fn insert(&mut self, command: HostCommand, units: UnitRange) -> SlotIndex {
        let prefetched_ns = self.spare_lists.pop().unwrap_or_default();
        let active = ActiveCommand { command, units, next_unit: units.first, prefetched_ns };
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(index as usize)
        {
            *slot = Some(active);
            return index;
        }
        self.slots.push(Some(active));
        super::units::saturating_u32(self.slots.len() as u64 - 1)
    }

    pub(crate) fn get_mut(&mut self, index: SlotIndex) -> Option<&mut ActiveCommand> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// Frees a slot and gives back the command that was in it.
    pub(crate) fn remove(&mut self, index: SlotIndex) -> Option<HostCommand> {
        let mut active = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        active.prefetched_ns.clear();
        self.spare_lists.push(active.prefetched_ns);
        Some(active.command)
    }
}
