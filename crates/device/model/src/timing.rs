//! What the modelled world asks of a device model: when does a request complete? Timing knows no contents.

use nandle_io::DriveCounters;

use crate::flash::AgedState;

/// What a request asks the device to do, as far as its time is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedOperation {
    /// Transfers data from the device to the host.
    Read,
    /// Transfers data from the host to the device. A durable write completes only when its data would survive a
    /// power cut (FUA); another may complete when the data is in a volatile cache.
    Write {
        /// Whether completion implies that the data is on the medium.
        durable: bool,
    },
    /// Completes when every write that had completed before the flush arrived would survive a power cut.
    Flush,
    /// Tells the device that the contents of a range are no longer needed.
    Discard,
}

/// A request as the timing model sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRequest {
    /// Chosen by the caller; the completion carries it back. Unique among the requests in flight.
    pub id: u64,
    /// What to do.
    pub operation: TimedOperation,
    /// First byte of the range; ignored by a flush.
    pub offset_bytes: u64,
    /// Length of the range in bytes; ignored by a flush.
    pub length_bytes: u64,
}

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedCompletion {
    /// The request's id.
    pub id: u64,
    /// When it completed, in virtual nanoseconds.
    pub completed_ns: u64,
}

/// A device's timing. The caller owns the clock: it calls [`arrive`](Self::arrive) and
/// [`advance`](Self::advance) with times that never decrease, and should advance to
/// [`next_event_ns`](Self::next_event_ns) before it lets a later request arrive.
pub trait Timing {
    /// A request arrives at the device's host side at `now_ns` (never earlier than any earlier call's time).
    fn arrive(&mut self, now_ns: u64, request: TimedRequest);
    /// The next time at which the device itself has something to do; `None` when it is idle.
    fn next_event_ns(&self) -> Option<u64>;
    /// Does everything due up to and including `now_ns`; finished requests are appended in order of completion.
    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>);
    /// What it has counted; `None` for what is no flash drive, and no array of nothing else.
    fn counters(&self) -> Option<DriveCounters> {
        None
    }
    /// What outlives a power cycle: for each drive in it, in their order, its state, or nothing where it doesn't age.
    /// Taken of a device that is idle.
    fn aged_states(&mut self) -> Vec<Option<AgedState>> {
        vec![None]
    }
}

impl<T: Timing + ?Sized> Timing for Box<T> {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        (**self).arrive(now_ns, request);
    }

    fn next_event_ns(&self) -> Option<u64> {
        (**self).next_event_ns()
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        (**self).advance(now_ns, completed);
    }

    fn counters(&self) -> Option<DriveCounters> {
        (**self).counters()
    }

    fn aged_states(&mut self) -> Vec<Option<AgedState>> {
        (**self).aged_states()
    }
}
