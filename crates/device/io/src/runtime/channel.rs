use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::executor::Handle;
use super::inbox::ForeignWakes;

/// Bounded channel from other threads to a task. Sending blocks; receiving is asynchronous, in the
/// runtime of `handle`. It has room for `capacity` messages, at least one.
pub fn channel<T>(handle: &Handle, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state = State {
        queue: VecDeque::new(),
        capacity: capacity.max(1),
        senders: 1,
        is_received: true,
        waker: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), room: Condvar::new() });
    let sender = Sender { shared: Arc::clone(&shared), wakes: handle.foreign_wakes() };
    (sender, Receiver { shared })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    room: Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    capacity: usize,
    senders: usize,
    /// True until the receiver is dropped.
    is_received: bool,
    /// Waker of the waiting receiver.
    waker: Option<Waker>,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sending end of a [channel](channel()), for other threads. Dropping the last one closes the
/// channel.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    wakes: ForeignWakes,
}

/// Message that could not be sent because the receiver is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Message that could not be sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full.
    Full(T),
    /// The receiver is gone.
    Closed(T),
}

impl<T> Sender<T> {
    /// Sends a message; blocks while the channel is full. For other threads: in the receiver's own
    /// thread it could block for ever, see [`try_send`](Sender::try_send).
    ///
    /// # Errors
    /// Returns the message if the receiver is gone.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.shared.lock();
        while state.is_received && state.queue.len() >= state.capacity {
            state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_received {
            return Err(SendError(message));
        }
        push(state, message);
        Ok(())
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// Returns the message if the channel is full or the receiver is gone.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let state = self.shared.lock();
        if !state.is_received {
            return Err(TrySendError::Closed(message));
        }
        if state.queue.len() >= state.capacity {
            return Err(TrySendError::Full(message));
        }
        push(state, message);
        Ok(())
    }
}

fn push<T>(mut state: MutexGuard<'_, State<T>>, message: T) {
    state.queue.push_back(message);
    let waker = state.waker.take();
    drop(state);
    waker.into_iter().for_each(Waker::wake);
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.lock().senders += 1;
        Self { shared: Arc::clone(&self.shared), wakes: self.wakes.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.senders -= 1;
        let waker = if state.senders == 0 { state.waker.take() } else { None };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Receiving end of a [channel](channel()), for a task.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    /// Next message; `None` when there are no more and all senders are gone.
    pub async fn recv(&mut self) -> Option<T> {
        let mut message = Vec::new();
        self.recv_many(&mut message, 1).await;
        message.pop()
    }

    /// Waits for a message, then takes all that have arrived, at most `limit` (at least one).
    /// Returns the number added to `into`: 0 when there are no more and all senders are gone.
    pub async fn recv_many(&mut self, into: &mut Vec<T>, limit: usize) -> usize {
        poll_fn(|context| self.poll_many(context, into, limit.max(1))).await
    }

    /// Takes all messages that have arrived, without waiting. Returns the number added to `into`.
    pub fn drain(&mut self, into: &mut Vec<T>) -> usize {
        let mut state = self.shared.lock();
        let count = state.queue.len();
        into.extend(state.queue.drain(..));
        drop(state);
        self.shared.room.notify_all();
        count
    }

    fn poll_many(&self, context: &mut Context<'_>, into: &mut Vec<T>, limit: usize) -> Poll<usize> {
        let mut state = self.shared.lock();
        let count = state.queue.len().min(limit);
        if count == 0 && state.senders > 0 {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        into.extend(state.queue.drain(..count));
        drop(state);
        match count {
            0 => {}
            1 => self.shared.room.notify_one(),
            _ => self.shared.room.notify_all(),
        }
        Poll::Ready(count)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_received = false;
        // Messages may hold senders of other channels, or of this one.
        let unread = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.room.notify_all();
        drop(unread);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}
