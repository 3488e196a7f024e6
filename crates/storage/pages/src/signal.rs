use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// Wakes the tasks of one thread that wait for a condition whenever it may have come true.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    waiting: RefCell<Vec<Waker>>,
}

impl Signal {
    /// Lets every waiting task look again.
    pub(crate) fn notify(&self) {
        let mut waiting = self.waiting.take();
        waiting.drain(..).for_each(Waker::wake);
        // Its memory is used again. Waking runs no task, so none has begun to wait meanwhile.
        let begun = self.waiting.replace(waiting);
        debug_assert!(begun.is_empty(), "waking runs no task");
    }

    /// Waits until `ready` gives something.
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

/// Lets one task at a time do something.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Cell<bool>,
    signal: Signal,
}

/// It is this task's turn until this is dropped.
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
