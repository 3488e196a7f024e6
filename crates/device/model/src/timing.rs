//! Interface between the modelled world and a device model: the completion time of each request.
//! Timing is independent of contents.

use nandle_io::DriveCounters;

use crate::flash::AgedState;

/// Operation of a request, as far as it affects timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedOperation {
    /// Transfers data from the device to the host.
    Read,
    /// Transfers data from the host to the device. A durable write (FUA) completes once its data
    /// would survive a power cut. Other writes may complete once the data is in a volatile cache.
    Write {
        /// True if completion implies that the data is on the medium.
        durable: bool,
    },
    /// Completes once every write that completed before the flush arrived would survive a power
    /// cut.
    Flush,
    /// Marks the contents of a range as no longer needed.
    Discard,
}

/// Timing part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRequest {
    /// Chosen by the caller and returned in the completion. Unique among the requests in flight.
    pub id: u64,
    /// Operation.
    pub operation: TimedOperation,
    /// First byte of the range; ignored by a flush.
    pub offset_bytes: u64,
    /// Length of the range in bytes; ignored by a flush.
    pub length_bytes: u64,
}

/// A completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedCompletion {
    /// Id of the request.
    pub id: u64,
    /// Completion time in virtual nanoseconds.
    pub completed_ns: u64,
}

/// Timing model of a device.
///
/// The caller owns the clock. It calls [`arrive`](Self::arrive) and [`advance`](Self::advance) with
/// times that never decrease, and should advance to [`next_event_ns`](Self::next_event_ns) before a
/// later request arrives.
pub trait Timing {
    /// Accepts a request at `now_ns`, which is no earlier than the time of any earlier call.
    fn arrive(&mut self, now_ns: u64, request: TimedRequest);
    /// Time of the device's next event; `None` when it is idle.
    fn next_event_ns(&self) -> Option<u64>;
    /// Handles all events up to and including `now_ns`. Appends completed requests in order of
    /// completion.
    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>);
    /// Counters of a flash drive or of an array of flash drives; `None` for other devices.
    fn counters(&self) -> Option<DriveCounters> {
        None
    }
    /// State that outlives a power cycle: one entry for each drive in order, `None` where the drive
    /// doesn't age. The device must be idle.
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
