use std::sync::Arc;

use crate::{Arena, Completion, Device, DeviceId, DriveCounters, Nanos, Request};

/// A world of devices with one clock. It has one owner thread; more threads, more worlds.
///
/// The real ones are [`Uring`](crate::Uring) and [`Threads`](crate::Threads); a modelled one runs in virtual
/// time. Requests that can't be carried out (wrong alignment, beyond the end …) complete with an error like
/// any other, so that there is one place to look for errors.
pub trait Io {
    /// The devices in this world, in the order of their numbers.
    fn devices(&self) -> &[Device];

    /// Takes a request. It may reach the device only at the next [`reap`](Io::reap).
    ///
    /// # Errors
    /// Gives the request back when as many are in flight as the world has room for.
    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full>;

    /// Sends what was submitted and collects completions, in the order in which they came.
    ///
    /// Returns when `wait` is satisfied, when there is nothing to wait for (nothing in flight, no deadline
    /// and no [`Waker`] given out), or early when a waker woke it; so callers loop. A signal may also end it
    /// early, which it does in the ring and not in the threads world. A `reap` that doesn't wait leaves a
    /// wake-up for the next one that does.
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>);

    /// Requests taken whose completions weren't reaped yet.
    fn in_flight(&self) -> usize;

    /// The most requests that can be in flight.
    fn slots(&self) -> usize;

    /// The time: monotonic, or virtual. Its zero is arbitrary but the same for all worlds of a process.
    fn now(&self) -> Nanos;

    /// Processor time that the process has used, all threads; in a modelled world what was charged.
    fn cpu_time(&self) -> Nanos;

    /// Charges processor time of the caller's own work, as decoding what was read. In a modelled world, where computing
    /// takes no time otherwise, the clock moves by `span` and the devices work on meanwhile; completions are handed out by
    /// the next [`reap`](Io::reap), and bear its time. In a real world it does nothing, because the work has taken its
    /// time already.
    fn charge_cpu(&mut self, span: Nanos);

    /// How much too late a deadline of [`Wait`] may return. Code that must be punctual sets the deadline so
    /// much earlier and polls for the rest. Zero in a modelled world.
    fn timer_slack(&self) -> Nanos;

    /// A handle by which other threads end a waiting [`reap`](Io::reap); `None` in a modelled world.
    fn waker(&mut self) -> Option<Waker>;

    /// Makes an arena known, which makes requests with its buffers cheaper. Returns how many of its bytes,
    /// from its start, are registered: 0 where the world has no use for it or the system allows none.
    fn register(&mut self, arena: &Arena) -> usize;

    /// What this world is and what it had to give up.
    fn backend(&self) -> Backend;

    /// What a drive has counted, where it tells: modelled flash drives do, and arrays of nothing else. Asking takes no
    /// time and disturbs nothing.
    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        let _ = device;
        None
    }
}

/// The request that found no room.
#[derive(Debug)]
pub struct Full(pub Request);

/// How long [`Io::reap`] waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Return when this many completions were collected; fewer in flight count as this many.
    pub completions: usize,
    /// Return at this time at the latest.
    pub until: Option<Nanos>,
}

impl Wait {
    /// Not at all: collect what is there.
    pub const NONE: Self = Self { completions: 0, until: None };

    /// Until `completions` are there.
    pub const fn until_completed(completions: usize) -> Self {
        Self { completions, until: None }
    }

    /// Until one completion is there, but at most until `deadline`.
    pub const fn until_time(deadline: Nanos) -> Self {
        Self { completions: 1, until: Some(deadline) }
    }

    /// How many completions satisfy it, when `in_flight` requests are when the wait begins, those included
    /// that only need collecting. With none in flight there is still a deadline or a wake-up to wait for, or
    /// nothing at all. For implementations of a world.
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

/// What is behind a [`Waker`]. For implementations of a world.
pub trait Wake: Send + Sync {
    /// Makes the current or the next waiting `reap` return.
    fn wake(&self);
}

impl Waker {
    /// A waker that does `wake`.
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

/// What a world is, for the record of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// `io_uring`, `threads`, or the name of a modelled world.
    pub name: &'static str,
    /// What it makes use of.
    pub features: Vec<String>,
    /// What it wanted and didn't get, with the reason.
    pub stepped_down: Vec<String>,
}
