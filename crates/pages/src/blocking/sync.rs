use std::cell::{Cell, RefCell};

use crate::signal::Signal;
use crate::{PageError, Store};

/// One sync at a time: those who come meanwhile share the next.
pub(super) struct SharedSync {
    /// How many have asked, and how many of them are done.
    asked: Cell<u64>,
    done: Cell<u64>,
    is_running: Cell<bool>,
    last: RefCell<Result<(), PageError>>,
    changed: Signal,
}

impl SharedSync {
    pub(super) fn new() -> Self {
        Self {
            asked: Cell::default(),
            done: Cell::default(),
            is_running: Cell::default(),
            last: RefCell::new(Ok(())),
            changed: Signal::default(),
        }
    }

    /// Makes everything durable that the store had accepted when this was called.
    pub(super) async fn sync(&self, store: &Store) -> Result<(), PageError> {
        let mine = self.asked.get() + 1;
        self.asked.set(mine);
        while self.done.get() < mine {
            if self.is_running.get() {
                let moved_on = || self.done.get() >= mine || !self.is_running.get();
                self.changed.wait(|| moved_on().then_some(())).await;
            } else {
                self.run(store).await;
            }
        }
        // A later one may have failed meanwhile. To say so of an earlier one is allowed, and the store has stopped.
        self.last.borrow().clone()
    }

    async fn run(&self, store: &Store) {
        self.is_running.set(true);
        let covers = self.asked.get();
        let result = store.sync().await;
        *self.last.borrow_mut() = result;
        self.done.set(covers);
        self.is_running.set(false);
        self.changed.notify();
    }
}
