use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// Wakes tasks of one thread that wait for a condition.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    waiting: RefCell<Vec<Waker>>,
}

impl Signal {
    /// Wakes every waiting task.
    pub(crate) fn notify(&self) {
        let mut waiting = self.waiting.take();
        waiting.drain(..).for_each(Waker::wake);
        // Reuses its memory. Waking runs no task, so none has started to wait meanwhile.
        let begun = self.waiting.replace(waiting);
        debug_assert!(begun.is_empty(), "waking runs no task");
    }

    /// Waits until `ready` returns a value.
    pub(crate) async fn wait<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        poll_fn(|context| {
            if let Some(value) = ready() {
                return Poll::Ready(value);
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Admits one task at a time.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Cell<bool>,
    signal: Signal,
}

/// Turn of a task, until dropped.
#[derive(Debug)]
pub(crate) struct MyTurn<'a>(&'a Turn);

impl Turn {
    pub(crate) async fn take(&self) -> MyTurn<'_> {
        self.signal.wait(|| (!self.taken.replace(true)).then_some(())).await;
        MyTurn(self)
    }
}

impl Drop for MyTurn<'_> {
    fn drop(&mut self) {
        let was_taken = self.0.taken.replace(false);
        debug_assert!(was_taken, "it is one task's turn");
        self.0.signal.notify();
    }
}
