use crate::{Cause, DeviceId, DriveCounters, Nanos, Operation};

/// What the devices of a [`VirtualWorld`](super::VirtualWorld) do, and when. The world owns the clock and what is in
/// flight: it lets requests arrive at times that never decrease, and calls [`advance`](Self::advance) for each event before
/// it moves the clock past it.
pub trait Behaviour {
    /// The world's name in its [`Backend`](crate::Backend).
    const NAME: &'static str;
    /// What the world says of itself beside its name.
    const FEATURES: &'static [&'static str] = &[];
    /// After how long each wait ends early, as if another thread had used the world's waker. `None`: it has no waker.
    const HEARTBEAT: Option<Nanos> = None;

    /// A request arrives that its device's shape allows.
    fn arrive(&mut self, now: Nanos, arrival: Arrival<'_>);

    /// When a device has something to do next; `None` while all are idle.
    fn next_event(&mut self) -> Option<Nanos>;

    /// Does what the next event is, which is due at `at`. Requests that finish thereby are appended in their order.
    fn advance(&mut self, at: Nanos, finished: &mut Vec<Finished>);

    /// What a request does that succeeds, at the time when it completes: a read fills its buffers. `key` is that of its
    /// arrival.
    fn take_effect(&mut self, key: usize, device: DeviceId, operation: &mut Operation) {
        let _ = (key, device, operation);
    }

    /// A span of time passes with so many requests in flight.
    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        let _ = (span, in_flight);
    }

    /// What a drive has counted, where it tells.
    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        let _ = device;
        None
    }
}

/// A request on its way to its device.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// Names the request until it has finished; used again afterwards.
    pub key: usize,
    /// The device.
    pub device: DeviceId,
    /// What is asked.
    pub operation: &'a Operation,
    /// The requests in flight before it.
    pub in_flight: usize,
}

/// A request that is done.
#[derive(Debug)]
pub struct Finished {
    /// The key of its arrival.
    pub key: usize,
    /// Why it failed, if it did.
    pub failure: Option<Cause>,
}
