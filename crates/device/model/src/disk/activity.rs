//! What the arm is doing, and the disk's own events in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::{InUse, SegmentId};
use super::host_side::Command;
use super::mechanics::Arm;

/// What the arm is doing. Reading ahead gives way to anything else and is therefore no event: it is caught up with
/// when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Nothing.
    Idle,
    /// Reads on, from `next` to before `limit`; at rest once it is there.
    ReadingAhead { segment: SegmentId, next: u64, limit: u64 },
    /// Reads for a command, to before `end`; then the heads are as `after` says.
    Reading { segment: SegmentId, end: u64, after: Arm },
    /// Writes a segment's sectors, to before `end`; then the heads are as `after` says.
    Writing { segment: SegmentId, end: u64, after: Arm },
}

impl Activity {
    /// Whether the arm cannot be called away.
    pub(super) fn is_busy(self) -> bool {
        matches!(self, Self::Reading { .. } | Self::Writing { .. })
    }

    /// The segments that the arm works on.
    pub(super) fn in_use(self) -> InUse {
        match self {
            Self::Reading { segment, .. } => InUse { reading: Some(segment), reading_ahead: None },
            Self::ReadingAhead { segment, .. } => InUse { reading: None, reading_ahead: Some(segment) },
            Self::Idle | Self::Writing { .. } => InUse::default(),
        }
    }
}

/// Something that is due inside the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The controller has decoded a command.
    Decoded(Command),
    /// A read's data may go over the interface without a pause.
    Deliverable(Command),
    /// The arm has done what it did.
    ArmDone,
    /// The host has the completion of the command with this id.
    Completed(u64),
}

/// Events by time; those of one time in the order in which they were planned.
#[derive(Debug, Default)]
pub(super) struct Events {
    due: BinaryHeap<Reverse<(u64, u64, EventSlot)>>,
    planned: u64,
}

/// Keeps an event out of the heap's order, which time and number decide alone.
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

    /// The next event that is due by `now_ns`, with its time.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(u64, Event)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.due.pop().map(|Reverse((at_ns, _, slot))| (at_ns, slot.0))
    }
}
