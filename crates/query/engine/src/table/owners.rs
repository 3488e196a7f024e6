use std::sync::{Arc, Mutex, PoisonError, Weak};

use nandle_reads::Progress;

/// The threads that read for an engine, as far as their tables are still open.
#[derive(Debug, Default)]
pub(crate) struct Owners(Mutex<Vec<Weak<Progress>>>);

/// What a thread that reads is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadsState {
    /// Which thread: a number that no other one has at the same time.
    pub owner: usize,
    /// Requests that were sent and haven't come back.
    pub in_flight: usize,
    /// Requests that have come back.
    pub completed: usize,
}

impl Owners {
    pub(super) fn add(&self, progress: &Arc<Progress>) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|owner| owner.strong_count() > 0);
        owners.push(Arc::downgrade(progress));
    }

    pub(crate) fn states(&self) -> Vec<ReadsState> {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = |progress: Arc<Progress>| ReadsState {
            owner: Arc::as_ptr(&progress).addr(),
            in_flight: progress.in_flight(),
            completed: progress.completed(),
        };
        owners.iter().filter_map(Weak::upgrade).map(state).collect()
    }
}
