//! The drive's interface to the host: command slots, the controller's overheads, and the link.

use std::collections::VecDeque;

use super::parameters::{DiskParameters, OverheadParameters};
use super::units::microseconds_to_ns;
use crate::timing::{TimedOperation, TimedRequest};

/// Command in the drive's units: sectors from `first` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) id: u64,
    pub(super) operation: TimedOperation,
    pub(super) first: u64,
    pub(super) end: u64,
    /// Time at which the drive accepted it. Excludes the time in the host's queue.
    pub(super) taken_ns: u64,
}

impl Command {
    pub(super) fn sectors(&self) -> u64 {
        self.end - self.first
    }
}

/// Service of a command, which determines the controller's overhead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Served by the cache.
    Hit,
    /// Waits for the medium.
    Miss,
}

/// Command slots, controller and interface, each with its busy-until time.
#[derive(Debug)]
pub(super) struct HostSide {
    waiting: VecDeque<Command>,
    slots_free: u32,
    overheads: OverheadParameters,
    controller_free_ns: u64,
    after_read: bool,
    interface_free_ns: u64,
    sector_transfer_ns: u64,
    sector_bytes: u64,
    sectors: u64,
}

impl HostSide {
    pub(super) fn new(parameters: &DiskParameters, sectors: u64) -> Self {
        Self {
            waiting: VecDeque::new(),
            slots_free: parameters.queue.depth,
            overheads: parameters.overheads,
            controller_free_ns: 0,
            after_read: true,
            interface_free_ns: 0,
            sector_transfer_ns: microseconds_to_ns(parameters.interface.sector_transfer_us),
            sector_bytes: parameters.sector_bytes,
            sectors,
        }
    }

    pub(super) fn sector_transfer_ns(&self) -> u64 {
        self.sector_transfer_ns
    }

    /// Queues a request for a slot. Its range is widened to whole sectors and truncated at the
    /// drive's end.
    pub(super) fn enqueue(&mut self, request: TimedRequest) {
        let end_bytes = request.offset_bytes.saturating_add(request.length_bytes);
        let end = end_bytes.div_ceil(self.sector_bytes).min(self.sectors);
        let first = (request.offset_bytes / self.sector_bytes).min(end);
        let (id, operation) = (request.id, request.operation);
        self.waiting.push_back(Command { id, operation, first, end, taken_ns: 0 });
    }

    /// Takes the next command if a slot is free.
    pub(super) fn take_slot(&mut self, now_ns: u64) -> Option<Command> {
        if self.slots_free == 0 {
            return None;
        }
        let command = self.waiting.pop_front()?;
        self.slots_free -= 1;
        Some(Command { taken_ns: now_ns, ..command })
    }

    pub(super) fn release_slot(&mut self) {
        self.slots_free += 1;
    }

    /// Decodes a command and returns the end. The controller decodes one command at a time.
    pub(super) fn decode(&mut self, command: &Command, service: Service, now_ns: u64) -> u64 {
        let is_read = command.operation == TimedOperation::Read;
        let overhead_us = overhead_us(&self.overheads, is_read, service, self.after_read);
        self.after_read = is_read;
        self.controller_free_ns = self.controller_free_ns.max(now_ns) + microseconds_to_ns(overhead_us);
        self.controller_free_ns
    }

    /// Transfers `sectors` from `now_ns` on and returns the end.
    pub(super) fn transfer(&mut self, sectors: u64, now_ns: u64) -> u64 {
        self.interface_free_ns = self.interface_free_ns.max(now_ns) + sectors * self.sector_transfer_ns;
        self.interface_free_ns
    }
}

fn overhead_us(overheads: &OverheadParameters, is_read: bool, service: Service, after_read: bool) -> f64 {
    match (is_read, service, after_read) {
        (true, Service::Hit, true) => overheads.read_hit_after_read_us,
        (true, Service::Hit, false) => overheads.read_hit_after_write_us,
        (true, Service::Miss, true) => overheads.read_miss_after_read_us,
        (true, Service::Miss, false) => overheads.read_miss_after_write_us,
        (false, Service::Hit, true) => overheads.write_hit_after_read_us,
        (false, Service::Hit, false) => overheads.write_hit_after_write_us,
        (false, Service::Miss, true) => overheads.write_miss_after_read_us,
        (false, Service::Miss, false) => overheads.write_miss_after_write_us,
    }
}
