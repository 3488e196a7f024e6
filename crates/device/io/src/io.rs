use std::sync::Arc;

use crate::{Arena, Completion, Device, DeviceId, DriveCounters, Nanos, Request};

/// World of devices with one clock. It has one owner thread; more threads need more worlds.
///
/// Real worlds are [`Uring`](crate::Uring) and [`Threads`](crate::Threads); a modelled world runs
/// in virtual time. Invalid requests (wrong alignment, beyond the end …) complete with an error
/// like any other, so all errors are reported in one place.
pub trait Io {
    /// Devices in this world, in the order of their numbers.
    fn devices(&self) -> &[Device];

    /// Submits a request. It may reach the device only at the next [`reap`](Io::reap).
    ///
    /// # Errors
    /// Returns the request if all slots are taken.
    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full>;

    /// Sends submitted requests and collects completions, in the order of completion.
    ///
    /// Returns once `wait` is satisfied, or when there is nothing to wait for (nothing in flight,
    /// no deadline and no [`Waker`] given out). A waker ends the wait early, so callers loop. A
    /// signal may also end it early in the ring, but not in the threads world. A `reap` that
    /// doesn't wait leaves a wake-up for the next wait.
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>);

    /// Requests submitted whose completions haven't been reaped.
    fn in_flight(&self) -> usize;

    /// Limit of requests in flight.
    fn slots(&self) -> usize;

    /// Current time: monotonic, or virtual. Its zero is arbitrary but the same for all worlds of a
    /// process.
    fn now(&self) -> Nanos;

    /// Processor time of the whole process; in a modelled world the time charged.
    fn cpu_time(&self) -> Nanos;

    /// Charges processor time of the caller's own work, such as decoding data. In a modelled world
    /// computing takes no time by itself: the clock advances by `span` while the devices work.
    /// Completions in that time are returned by the next [`reap`](Io::reap), with its time. In a
    /// real world this does nothing, because the work has taken its time already.
    fn charge_cpu(&mut self, span: Nanos);

    /// Lateness of a deadline of [`Wait`]. Punctual code sets the deadline earlier by this and
    /// polls for the rest. Zero in a modelled world.
    fn timer_slack(&self) -> Nanos;

    /// Handle for other threads to end a waiting [`reap`](Io::reap); `None` in a modelled world.
    fn waker(&mut self) -> Option<Waker>;

    /// Registers an arena, which makes requests with its buffers cheaper. Returns the length of the
    /// registered part, from the arena's start: 0 if the world has no use for it or the system
    /// allows none.
    fn register(&mut self, arena: &Arena) -> usize;

    /// Name and features of this world, and its fallbacks.
    fn backend(&self) -> Backend;

    /// Counters of a drive, for modelled flash drives and arrays of these; `None` for other
    /// devices. Reading them takes no time and disturbs nothing.
    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        let _ = device;
        None
    }
}

/// Request that found no free slot.
#[derive(Debug)]
pub struct Full(pub Request);

/// Condition for [`Io::reap`] to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Number of completions to wait for, limited to the requests in flight.
    pub completions: usize,
    /// Latest time to return.
    pub until: Option<Nanos>,
}

impl Wait {
    /// No wait: collect what has completed.
    pub const NONE: Self = Self { completions: 0, until: None };

    /// Wait for `completions` completions.
    pub const fn until_completed(completions: usize) -> Self {
        Self { completions, until: None }
    }

    /// Wait for one completion, at most until `deadline`.
    pub const fn until_time(deadline: Nanos) -> Self {
        Self { completions: 1, until: Some(deadline) }
    }

    /// Number of completions that satisfy the wait, given `in_flight` requests at its start,
    /// including those ready to be collected. With none in flight, only a deadline or a wake-up can
    /// be waited for. For implementations of a world.
    pub fn target(self, in_flight: usize, has_waker: bool) -> usize {
        match in_flight {
            0 if self.until.is_some() || has_waker => self.completions.min(1),
            _ => self.completions.min(in_flight),
        }
    }
}

/// Ends a waiting [`Io::reap`] from another thread.
#[derive(Clone)]
pub struct Waker(Arc<dyn Wake>);

/// Implementation of a [`Waker`]. For implementations of a world.
pub trait Wake: Send + Sync {
    /// Makes the current or the next waiting `reap` return.
    fn wake(&self);
}

impl Waker {
    /// Waker with this implementation.
    pub fn new(wake: Arc<dyn Wake>) -> Self {
        Self(wake)
    }

    /// Makes the current or the next waiting `reap` return.
    pub fn wake(&self) {
        self.0.wake();
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waker")
    }
}

/// Description of a world, for the record of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// `io_uring`, `threads`, or the name of a modelled world.
    pub name: &'static str,
    /// Features in use.
    pub features: Vec<String>,
    /// Features that were wanted but missing, with the reason.
    pub stepped_down: Vec<String>,
}
