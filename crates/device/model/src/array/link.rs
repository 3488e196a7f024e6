//! One direction of the link between a controller and its host.

use crate::flash::units::transfer_ns;
use crate::timeline::Timeline;

/// Data rate shared by all transfers in this direction.
#[derive(Debug)]
pub(crate) struct Link {
    timeline: Timeline,
    bytes_per_s: u64,
}

impl Link {
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { timeline: Timeline::default(), bytes_per_s }
    }

    /// Sends `bytes`, not before `earliest_ns`; returns start and end.
    pub(crate) fn send(&mut self, earliest_ns: u64, bytes: u64) -> (u64, u64) {
        let duration_ns = transfer_ns(bytes, self.bytes_per_s);
        let start_ns = self.timeline.reserve(earliest_ns, duration_ns);
        (start_ns, start_ns + duration_ns)
    }

    /// Promises that no later transfer starts before `past_ns`.
    pub(crate) fn forget_before(&mut self, past_ns: u64) {
        self.timeline.forget_before(past_ns);
    }

    /// Sends `bytes` while the drives deliver them, until `delivered_ns`. Returns the end, which is
    /// no earlier than that.
    pub(crate) fn stream(&mut self, delivered_ns: u64, bytes: u64) -> u64 {
        let duration_ns = transfer_ns(bytes, self.bytes_per_s);
        self.send(delivered_ns.saturating_sub(duration_ns), bytes).1.max(delivered_ns)
    }
}
