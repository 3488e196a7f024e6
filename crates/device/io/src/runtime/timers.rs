use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::executor::Core;
use crate::Nanos;

/// Sleeping tasks by deadline, then by age.
#[derive(Default)]
pub(super) struct Timers {
    sleeping: BTreeMap<(Nanos, u64), Waker>,
    started: u64,
}

impl Timers {
    /// Next deadline.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.sleeping.first_key_value().map(|((deadline, _), _)| *deadline)
    }

    /// Takes the first sleeper whose deadline has passed.
    pub(super) fn pop_due(&mut self, now: Nanos) -> Option<Waker> {
        self.next().filter(|deadline| *deadline <= now)?;
        self.sleeping.pop_first().map(|(_, waker)| waker)
    }
}

/// Future that completes at its deadline, never before.
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    core: Rc<Core>,
    deadline: Nanos,
    /// Number among the timers, after the first poll.
    number: Option<u64>,
}

impl Sleep {
    pub(super) fn new(core: Rc<Core>, deadline: Nanos) -> Self {
        Self { core, deadline, number: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.core.now() >= self.deadline {
            return Poll::Ready(());
        }
        let core = Rc::clone(&self.core);
        let mut timers = core.timers.borrow_mut();
        let started = &mut timers.started;
        let number = *self.number.get_or_insert_with(|| {
            *started += 1;
            *started
        });
        timers.sleeping.insert((self.deadline, number), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.core.timers.borrow_mut().sleeping.remove(&(self.deadline, number));
            drop(waker);
        }
    }
}
