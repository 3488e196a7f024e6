use crate::{Cause, DeviceId, DriveCounters, Nanos, Operation};

/// Behaviour of the devices of a [`VirtualWorld`](super::VirtualWorld). The world owns the clock
/// and the requests in flight. Requests arrive at times that never decrease, and the world calls
/// [`advance`](Self::advance) for each event before the clock passes it.
pub trait Behaviour {
    /// Name in the world's [`Backend`](crate::Backend).
    const NAME: &'static str;
    /// Features in the world's [`Backend`](crate::Backend).
    const FEATURES: &'static [&'static str] = &[];
    /// Interval at which a wait ends early, as if another thread had woken the world. `None`: the
    /// world has no waker.
    const HEARTBEAT: Option<Nanos> = None;

    /// Accepts a request that its device's shape allows.
    fn arrive(&mut self, now: Nanos, arrival: Arrival<'_>);

    /// Time of the next event; `None` while all devices are idle.
    fn next_event(&mut self) -> Option<Nanos>;

    /// Handles the next event, due at `at`. Appends finished requests in order.
    fn advance(&mut self, at: Nanos, finished: &mut Vec<Finished>);

    /// Applies a successful request at its completion: a read fills its buffers. `key` is that of
    /// its arrival.
    fn take_effect(&mut self, key: usize, device: DeviceId, operation: &mut Operation) {
        let _ = (key, device, operation);
    }

    /// Called when `span` passes with `in_flight` requests.
    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        let _ = (span, in_flight);
    }

    /// Counters of a drive, if it has any.
    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        let _ = device;
        None
    }
}

/// Request that arrives at its device.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// Key of the request until it finishes; reused afterwards.
    pub key: usize,
    /// Device of the request.
    pub device: DeviceId,
    /// Operation of the request.
    pub operation: &'a Operation,
    /// Number of earlier requests in flight.
    pub in_flight: usize,
}

/// Finished request.
#[derive(Debug)]
pub struct Finished {
    /// Key of its arrival.
    pub key: usize,
    /// Cause of its failure, if it failed.
    pub failure: Option<Cause>,
}
