use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Memory budget in pages, shared by threads. Requests that don't fit wait, and are served in
/// order, so that large requests aren't starved by small ones.
pub(super) struct Budget {
    pages: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    free: usize,
    /// Ticket numbers of the next request and of the next one served.
    asking: u64,
    serving: u64,
}

/// Pages taken from a budget until dropped.
#[must_use = "the pages are given back when it is dropped"]
pub(super) struct Taken<'a> {
    budget: &'a Budget,
    pages: usize,
}

impl Budget {
    /// Budget of `pages` pages, at least 1.
    pub(super) fn of(pages: usize) -> Self {
        let pages = pages.max(1);
        let state = Mutex::new(State { free: pages, asking: 0, serving: 0 });
        Self { pages, state, changed: Condvar::new() }
    }

    /// Total number of pages.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// Takes `pages` pages, at most the total, and waits until they are free.
    pub(super) fn take(&self, pages: usize) -> Taken<'_> {
        // A larger request would wait forever, and block all behind it.
        assert!(pages <= self.pages, "{pages} pages of {}", self.pages);
        let mut state = self.lock();
        let mine = state.asking;
        state.asking += 1;
        while state.serving != mine || state.free < pages {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.free -= pages;
        state.serving += 1;
        debug_assert!(state.serving <= state.asking, "{} were served of {}", state.serving, state.asking);
        drop(state);
        self.changed.notify_all();
        Taken { budget: self, pages }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.free += self.pages;
        debug_assert!(state.free <= self.budget.pages, "no more is given back than was taken");
        drop(state);
        self.budget.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is_and_every_thread_is_served() {
        let (budget, taken, served) = (Budget::of(5), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (budget, taken, served) = (&budget, &taken, &served);
                scope.spawn(move || {
                    for turn in 0..200 {
                        let pages = 1 + (thread + turn) % 5;
                        let mine = budget.take(pages);
                        assert!(taken.fetch_add(pages, Ordering::SeqCst) + pages <= 5);
                        taken.fetch_sub(pages, Ordering::SeqCst);
                        drop(mine);
                        served.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!((served.into_inner(), budget.lock().free), (1600, 5));
    }
}
