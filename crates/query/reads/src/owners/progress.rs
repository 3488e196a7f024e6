use std::sync::atomic::{AtomicUsize, Ordering};

/// Progress of an owner's world, for other threads: it shows whether requests complete.
#[derive(Debug, Default)]
pub struct Progress {
    in_flight: AtomicUsize,
    completed: AtomicUsize,
}

impl Progress {
    /// Requests submitted and not completed.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Requests completed since the owner started.
    pub fn completed(&self) -> usize {
        self.completed.load(Ordering::Relaxed)
    }

    pub(super) fn note(&self, in_flight: usize, completed: usize) {
        self.completed.fetch_add(completed, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
    }
}
