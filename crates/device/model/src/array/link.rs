//! One direction of a controller's way to its host.

use crate::flash::units::transfer_ns;
use crate::timeline::Timeline;

/// A data rate that everything which goes this way shares.
#[derive(Debug)]
pub(crate) struct Link {
    timeline: Timeline,
    bytes_per_s: u64,
}

impl Link {
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { timeline: Timeline::default(), bytes_per_s }
    }

    /// Sends so many bytes, not before `earliest_ns`; gives start and end.
    pub(crate) fn send(&mut self, earliest_ns: u64, bytes: u64) -> (u64, u64) {
        let duration_ns = transfer_ns(bytes, self.bytes_per_s);
        let start_ns = self.timeline.reserve(earliest_ns, duration_ns);
        (start_ns, start_ns + duration_ns)
    }

    /// From now on nothing is sent from a time before `past_ns` on.
    pub(crate) fn forget_before(&mut self, past_ns: u64) {
        self.timeline.forget_before(past_ns);
    }

    /// Sends what others deliver meanwhile and have delivered by `delivered_ns`; gives the end, which is not before that.
    pub(crate) fn stream(&mut self, delivered_ns: u64, bytes: u64) -> u64 {
        let duration_ns = transfer_ns(bytes, self.bytes_per_s);
        self.send(delivered_ns.saturating_sub(duration_ns), bytes).1.max(delivered_ns)
    }
}
