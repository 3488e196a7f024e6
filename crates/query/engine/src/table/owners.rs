use std::sync::{Arc, Mutex, PoisonError, Weak};

use nandle_reads::Progress;

/// Reading threads of an engine's open tables.
#[derive(Debug, Default)]
pub(crate) struct Owners(Mutex<Vec<Weak<Progress>>>);

/// State of a reading thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadsState {
    /// Number of the thread, unique among current ones.
    pub owner: usize,
    /// Requests submitted and not completed.
    pub in_flight: usize,
    /// Requests completed.
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
