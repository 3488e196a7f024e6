use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::closed;
use crate::PageError;

/// Pending reply of the store's thread to a request.
///
/// A future for any executor; [`wait`](Ticket::wait) blocks a thread instead. The request completes
/// even if its ticket is dropped. A ticket polled again after its reply was taken reports a closed
/// store.
///
/// A request may wait for its turn until it is answered. Commits submitted by one thread take
/// effect in order. A read, a [`sync`](crate::BlockingStore::sync) or a
/// [`checkpoint`](crate::BlockingStore::checkpoint) by the same thread covers only commits whose
/// replies were taken before.
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

/// Replies once, even if the ticket was dropped. Dropped without a reply, it reports a closed
/// store.
#[derive(Debug)]
pub(super) struct Answer<T>(Arc<Slot<T>>);

/// State shared by a ticket and its reply.
#[derive(Debug)]
struct Slot<T> {
    state: Mutex<State<T>>,
    given: Condvar,
}

#[derive(Debug)]
enum State<T> {
    /// Waker of the task that polled the ticket, if any.
    Waiting(Option<Waker>),
    Given(Result<T, PageError>),
    Taken,
}

/// A ticket and its reply.
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
    /// Takes the reply, if there is one.
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
    /// Blocks until the reply.
    ///
    /// # Errors
    /// The request failed, or the store was closed first.
    pub fn wait(self) -> Result<T, PageError> {
        let mut state = self.slot.lock();
        loop {
            if let Some(answer) = state.take() {
                return answer;
            }
            state = self.slot.given.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the reply if there is one, otherwise the ticket.
    ///
    /// # Errors
    /// There is no reply yet.
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
