use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::closed;
use crate::PageError;

/// The answer to a request that the store's thread has yet to give.
///
/// It is a future, which any executor can poll; [`wait`](Ticket::wait) blocks a thread instead. Dropped at any time, it lets the
/// store do the request all the same. After its answer was taken a ticket that is polled says that the store was closed.
///
/// A request may wait for its turn until it is answered. Commits that one thread submits take effect in their order, but a read, a
/// [`sync`](crate::BlockingStore::sync) or a [`checkpoint`](crate::BlockingStore::checkpoint) that the thread asks for meanwhile need
/// not see them: take the tickets' answers first.
///
/// ```no_run
/// # use nandle_pages::{Batch, BlockingStore, PageError};
/// async fn commit(store: &BlockingStore, batch: Batch) -> Result<(), PageError> {
///     let number = store.submit_commit(batch)?.await?;
///     println!("{number} is durable");
///     Ok(())
/// }
/// ```
#[must_use = "what became of the request is lost"]
#[derive(Debug)]
pub struct Ticket<T> {
    slot: Arc<Slot<T>>,
}

/// Answers once; the ticket may have been dropped. Dropped without, it says that the store was closed.
#[derive(Debug)]
pub(super) struct Answer<T>(Arc<Slot<T>>);

/// Where a ticket and its answer meet.
#[derive(Debug)]
struct Slot<T> {
    state: Mutex<State<T>>,
    given: Condvar,
}

#[derive(Debug)]
enum State<T> {
    /// Who is woken by the answer, if the ticket was polled.
    Waiting(Option<Waker>),
    Given(Result<T, PageError>),
    Taken,
}

/// A ticket and what it waits for.
pub(super) fn ticket<T>() -> (Answer<T>, Ticket<T>) {
    let slot = Arc::new(Slot { state: Mutex::new(State::Waiting(None)), given: Condvar::new() });
    (Answer(Arc::clone(&slot)), Ticket { slot })
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// The answer, if it was given.
    fn take(&mut self) -> Option<Result<T, PageError>> {
        match std::mem::replace(self, Self::Taken) {
            Self::Given(answer) => Some(answer),
            Self::Taken => Some(Err(closed())),
            waiting @ Self::Waiting(_) => {
                *self = waiting;
                None
            }
        }
    }
}

impl<T> Ticket<T> {
    /// Waits until it is done.
    ///
    /// # Errors
    /// What was asked for failed, or the store was closed first.
    pub fn wait(self) -> Result<T, PageError> {
        let mut state = self.slot.lock();
        loop {
            if let Some(answer) = state.take() {
                return answer;
            }
            state = self.slot.given.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What became of it, if it is done, without waiting; gives the ticket back if it isn't.
    ///
    /// # Errors
    /// It isn't done yet.
    pub fn try_wait(self) -> Result<Result<T, PageError>, Self> {
        let answer = self.slot.lock().take();
        answer.ok_or(self)
    }
}

impl<T> Future for Ticket<T> {
    type Output = Result<T, PageError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.slot.lock();
        if let Some(answer) = state.take() {
            return Poll::Ready(answer);
        }
        match &mut *state {
            State::Waiting(Some(waker)) => waker.clone_from(context.waker()),
            state => *state = State::Waiting(Some(context.waker().clone())),
        }
        Poll::Pending
    }
}

impl<T> Answer<T> {
    pub(super) fn give(self, answer: Result<T, PageError>) {
        self.set(answer);
    }

    fn set(&self, answer: Result<T, PageError>) {
        let mut state = self.0.lock();
        let State::Waiting(waker) = &mut *state else { return };
        let waker = waker.take();
        *state = State::Given(answer);
        drop(state);
        self.0.given.notify_one();
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.set(Err(closed()));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::thread;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_ticket_wakes_who_polled_it_last() {
        let (answer, ticket) = ticket();
        let (first, last) = (Arc::<Count>::default(), Arc::<Count>::default());
        let mut ticket = pin!(ticket);
        for count in [&first, &last] {
            let waker = Waker::from(Arc::clone(count));
            assert!(ticket.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        answer.give(Ok(7));
        assert_eq!((first.0.load(Ordering::SeqCst), last.0.load(Ordering::SeqCst)), (0, 1));
        let polled = ticket.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Ready(Ok(7)));
    }

    #[test]
    fn a_thread_waits_for_an_answer_or_for_the_end() {
        let (answer, waiting) = ticket();
        let giving = thread::spawn(move || answer.give(Ok(7)));
        assert_eq!(waiting.wait(), Ok(7));
        giving.join().unwrap();
        let (answer, waiting) = ticket::<u8>();
        let waiting = waiting.try_wait().unwrap_err();
        drop(answer);
        assert_eq!(waiting.wait(), Err(closed()));
    }

    #[test]
    fn a_dropped_ticket_is_answered_all_the_same() {
        let (answer, dropped) = ticket();
        drop(dropped);
        answer.give(Ok(7));
    }
}
