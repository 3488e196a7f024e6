use std::sync::atomic::{AtomicUsize, Ordering};

/// What an owner's world is at, as other threads see it: whether requests come back, if it has some.
#[derive(Debug, Default)]
pub struct Progress {
    in_flight: AtomicUsize,
    completed: AtomicUsize,
}

impl Progress {
    /// Requests that were submitted and haven't come back.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Requests that have come back, since the owner's beginning.
    pub fn completed(&self) -> usize {
        self.completed.load(Ordering::Relaxed)
    }

    pub(super) fn note(&self, in_flight: usize, completed: usize) {
        self.completed.fetch_add(completed, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
    }
}
