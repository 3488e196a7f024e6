//! The arm's activity, and the disk's own events in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::{InUse, SegmentId};
use super::host_side::Command;
use super::mechanics::Arm;

/// Activity of the arm. Reading ahead yields to anything else, so it schedules no event: its
/// progress is computed on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// At rest.
    Idle,
    /// Reads ahead from `next` to before `limit`, then rests.
    ReadingAhead { segment: SegmentId, next: u64, limit: u64 },
    /// Reads to before `end` for a command; then the heads are as in `after`.
    Reading { segment: SegmentId, end: u64, after: Arm },
    /// Writes a segment's sectors to before `end`; then the heads are as in `after`.
    Writing { segment: SegmentId, end: u64, after: Arm },
}

impl Activity {
    /// Returns true if the arm can't be interrupted.
    pub(super) fn is_busy(self) -> bool {
        matches!(self, Self::Reading { .. } | Self::Writing { .. })
    }

    /// Segments in use by the arm.
    pub(super) fn in_use(self) -> InUse {
        match self {
            Self::Reading { segment, .. } => InUse { reading: Some(segment), reading_ahead: None },
            Self::ReadingAhead { segment, .. } => InUse { reading: None, reading_ahead: Some(segment) },
            Self::Idle | Self::Writing { .. } => InUse::default(),
        }
    }
}

/// Event inside the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The controller has decoded a command.
    Decoded(Command),
    /// A read's data can cross the interface without a pause.
    Deliverable(Command),
    /// The arm has finished its activity.
    ArmDone,
    /// The host has received the completion of the command with this id.
    Completed(u64),
}

/// Events by time; simultaneous events in the order of scheduling.
#[derive(Debug, Default)]
pub(super) struct Events {
    due: BinaryHeap<Reverse<(u64, u64, EventSlot)>>,
    planned: u64,
}

/// Excludes an event from the heap's order, which depends on time and number only.
#[derive(Debug)]
struct EventSlot(Event);

impl PartialEq for EventSlot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for EventSlot {}
impl PartialOrd for EventSlot {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for EventSlot {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Events {
    pub(super) fn plan(&mut self, at_ns: u64, event: Event) {
        self.due.push(Reverse((at_ns, self.planned, EventSlot(event))));
        self.planned += 1;
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Takes the next event that is due by `now_ns`, with its time.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(u64, Event)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.due.pop().map(|Reverse((at_ns, _, slot))| (at_ns, slot.0))
    }
}
