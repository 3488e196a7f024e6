use std::cell::{Cell, RefCell};

use crate::signal::Signal;
use crate::{PageError, Store};

/// A few syncs at a time: calls that come meanwhile share the next. With one alone the device would be idle from its flush's
/// end until the next group was written.
pub(super) struct SharedSync {
    most: usize,
    running: Cell<usize>,
    /// How many have asked, how many of them the syncs that have begun are for, and how many of those are done.
    asked: Cell<u64>,
    begun: Cell<u64>,
    done: Cell<u64>,
    first_failure: RefCell<Result<(), PageError>>,
    changed: Signal,
}

impl SharedSync {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            running: Cell::default(),
            asked: Cell::default(),
            begun: Cell::default(),
            done: Cell::default(),
            first_failure: RefCell::new(Ok(())),
            changed: Signal::default(),
        }
    }

    /// Makes everything durable that the store had accepted when this was called.
    pub(super) async fn sync(&self, store: &Store) -> Result<(), PageError> {
        let mine = self.asked.get() + 1;
        self.asked.set(mine);
        while self.done.get() < mine {
            let may_begin = || self.begun.get() < mine && self.running.get() < self.most;
            if may_begin() {
                self.run(store).await;
            } else {
                self.changed.wait(|| (self.done.get() >= mine || may_begin()).then_some(())).await;
            }
        }
        // A later one may have failed meanwhile. To say so of an earlier one is allowed, and the store has stopped.
        self.first_failure.borrow().clone()
    }

    /// One that begins later is for more, so it counts for all even if it is done first.
    async fn run(&self, store: &Store) {
        let covers = self.asked.get();
        debug_assert!(
            self.done.get() <= self.begun.get() && self.begun.get() < covers,
            "a sync is for some call"
        );
        debug_assert!(self.running.get() < self.most, "no more than {} syncs", self.most);
        self.begun.set(covers);
        self.running.update(|syncs| syncs + 1);
        let result = store.sync().await;
        self.running.update(|syncs| syncs - 1);
        let mut first_failure = self.first_failure.borrow_mut();
        if first_failure.is_ok() {
            *first_failure = result;
        }
        drop(first_failure);
        self.done.set(self.done.get().max(covers));
        self.changed.notify();
    }
}
