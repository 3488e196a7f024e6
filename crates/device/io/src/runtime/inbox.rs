use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use crate::Waker;

/// A task's place in the table of tasks, and its number, which is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskId {
    pub(super) place: usize,
    pub(super) number: u64,
}

impl TaskId {
    /// The future that `block_on` was given.
    pub(super) const ROOT: Self = Self { place: usize::MAX, number: u64::MAX };
}

/// The tasks that were woken, in that order. The one part of the runtime that other threads reach.
pub(super) struct Inbox {
    state: Mutex<State>,
    /// Ends the world's wait; `None` in a modelled world, which no other thread can wake.
    waker: Option<Waker>,
    foreign: AtomicUsize,
}

#[derive(Default)]
struct State {
    ready: VecDeque<TaskId>,
    /// The owner waits in its world, or is about to.
    is_parked: bool,
}

impl Inbox {
    pub(super) fn new(waker: Option<Waker>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), waker, foreign: AtomicUsize::new(0) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: TaskId) {
        let mut state = self.lock();
        state.ready.push_back(task);
        self.end_wait(state);
    }

    /// Lets the owner look around.
    fn nudge(&self) {
        self.end_wait(self.lock());
    }

    fn end_wait(&self, mut state: MutexGuard<'_, State>) {
        let was_parked = std::mem::take(&mut state.is_parked);
        drop(state);
        if was_parked && let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    pub(super) fn pop(&self) -> Option<TaskId> {
        self.lock().ready.pop_front()
    }

    pub(super) fn ready(&self) -> usize {
        self.lock().ready.len()
    }

    /// Says that the owner will wait, unless a task is ready: then it must not.
    pub(super) fn park(&self) -> bool {
        let mut state = self.lock();
        state.is_parked = state.ready.is_empty();
        state.is_parked
    }

    pub(super) fn unpark(&self) {
        self.lock().is_parked = false;
    }

    /// Whether another thread may wake a task.
    pub(super) fn may_be_woken(&self) -> bool {
        self.waker.is_some() && self.foreign.load(Ordering::Acquire) > 0
    }
}

/// What is behind the waker of a task.
pub(super) struct TaskWake {
    id: TaskId,
    is_ready: AtomicBool,
    inbox: Arc<Inbox>,
}

impl TaskWake {
    pub(super) fn new(id: TaskId, inbox: &Arc<Inbox>) -> Arc<Self> {
        Arc::new(Self { id, is_ready: AtomicBool::new(false), inbox: Arc::clone(inbox) })
    }

    /// To be called before the task is polled: wake-ups from now on count for the next poll.
    pub(super) fn begin_poll(&self) {
        // A wake-up that came before and pushed nothing relies on this poll, so the poll must see what it was about:
        // a mere store would not acquire that.
        self.is_ready.swap(false, Ordering::AcqRel);
    }
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::AcqRel) {
            self.inbox.push(self.id);
        }
    }
}

/// Says, as long as it lives, that another thread may wake a task, so that having nothing else to wait for is
/// no deadlock. Each [`Sender`](super::Sender) holds one. Has no meaning in a modelled world, which other
/// threads can't wake.
pub struct ForeignWakes {
    inbox: Arc<Inbox>,
}

impl ForeignWakes {
    pub(super) fn new(inbox: &Arc<Inbox>) -> Self {
        inbox.foreign.fetch_add(1, Ordering::AcqRel);
        Self { inbox: Arc::clone(inbox) }
    }
}

impl Clone for ForeignWakes {
    fn clone(&self) -> Self {
        Self::new(&self.inbox)
    }
}

impl Drop for ForeignWakes {
    fn drop(&mut self) {
        self.inbox.foreign.fetch_sub(1, Ordering::AcqRel);
        // The owner may wait for what can no longer come, and must see that.
        self.inbox.nudge();
    }
}
