use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::signal::Signal;

/// Admits one task at a time, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    taken: Cell<bool>,
    /// Numbers of waiting tasks.
    waiting: RefCell<VecDeque<u64>>,
    last_number: Cell<u64>,
    signal: Signal,
}

/// Admission of a task, until dropped.
#[derive(Debug)]
pub(crate) struct Served<'a>(&'a Queue);

/// Place of a waiting task, given up when dropped.
struct QueuePlace<'a> {
    queue: &'a Queue,
    number: u64,
}

impl Queue {
    /// Waits for admission. The order is that of the first polls.
    pub(crate) async fn enter(&self) -> Served<'_> {
        if !self.waiting.borrow().is_empty() || self.taken.replace(true) {
            self.wait().await;
        }
        Served(self)
    }

    async fn wait(&self) {
        let place = QueuePlace { queue: self, number: self.last_number.get() + 1 };
        self.last_number.set(place.number);
        debug_assert!(self.waiting.borrow().back().is_none_or(|last| *last < place.number), "in their order");
        self.waiting.borrow_mut().push_back(place.number);
        let is_first = || self.waiting.borrow().front() == Some(&place.number);
        self.signal.wait(|| (is_first() && !self.taken.replace(true)).then_some(())).await;
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.queue.waiting.borrow_mut().retain(|number| *number != self.number);
        // The next task may have checked while this one was in front of it.
        self.queue.signal.notify();
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let was_taken = self.0.taken.replace(false);
        debug_assert!(was_taken, "one is served at a time");
        self.0.signal.notify();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn tasks_are_served_in_the_order_of_asking() {
        let queue = Queue::default();
        let first = poll(pin!(queue.enter())).unwrap();
        let (mut second, mut third) = (pin!(queue.enter()), pin!(queue.enter()));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        drop(first);
        assert!(poll(pin!(queue.enter())).is_none(), "no task overtakes one that waits");
        assert!(poll(third.as_mut()).is_none());
        drop(poll(second.as_mut()).unwrap());
        assert!(poll(third.as_mut()).is_some());
        assert!(queue.waiting.borrow().is_empty());
    }

    #[test]
    fn who_gives_up_makes_way() {
        let queue = Queue::default();
        let first = poll(pin!(queue.enter())).unwrap();
        let mut third = {
            let mut second = Box::pin(queue.enter());
            assert!(poll(second.as_mut()).is_none());
            let mut third = Box::pin(queue.enter());
            assert!(poll(third.as_mut()).is_none());
            third
        };
        drop(first);
        assert!(poll(third.as_mut()).is_some());
    }
}
