use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use crate::Waker;

/// A task's index in the table, and its unique number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskId {
    pub(super) place: usize,
    pub(super) number: u64,
}

impl TaskId {
    /// Id of the future given to `block_on`.
    pub(super) const ROOT: Self = Self { place: usize::MAX, number: u64::MAX };
}

/// Woken tasks in order. Other threads access no other part of the runtime.
pub(super) struct Inbox {
    state: Mutex<State>,
    /// Ends the world's wait; `None` in a modelled world, which other threads can't wake.
    waker: Option<Waker>,
    foreign: AtomicUsize,
}

#[derive(Default)]
struct State {
    ready: VecDeque<TaskId>,
    /// True while the owner waits in its world, or is about to.
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

    /// Ends the owner's wait without waking a task.
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

    /// Announces that the owner will wait. Returns false if a task is ready: then it must not wait.
    pub(super) fn park(&self) -> bool {
        let mut state = self.lock();
        state.is_parked = state.ready.is_empty();
        state.is_parked
    }

    pub(super) fn unpark(&self) {
        self.lock().is_parked = false;
    }

    /// Returns true if another thread may wake a task.
    pub(super) fn may_be_woken(&self) -> bool {
        self.waker.is_some() && self.foreign.load(Ordering::Acquire) > 0
    }
}

/// Waker of a task.
pub(super) struct TaskWake {
    id: TaskId,
    is_ready: AtomicBool,
    inbox: Arc<Inbox>,
}

impl TaskWake {
    pub(super) fn new(id: TaskId, inbox: &Arc<Inbox>) -> Arc<Self> {
        Arc::new(Self { id, is_ready: AtomicBool::new(false), inbox: Arc::clone(inbox) })
    }

    /// Call before polling the task: later wake-ups count for the next poll.
    pub(super) fn begin_poll(&self) {
        // An earlier wake-up that pushed nothing relies on this poll, which must therefore see its
        // cause. A plain store would not acquire that.
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

/// Declares, while it lives, that another thread may wake a task, so that an otherwise idle runtime
/// is no deadlock. Each [`Sender`](super::Sender) holds one. Has no effect in a modelled world,
/// which other threads can't wake.
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
        // Wake the owner: it may be waiting for this thread's wake-ups, which can no longer come.
        self.inbox.nudge();
    }
}
