use std::borrow::Cow;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use super::inbox::{Inbox, TaskId, TaskWake};

/// Unfinished tasks.
#[derive(Default)]
pub(super) struct Tasks {
    tasks: Slab<Task>,
    spawned: u64,
}

struct Task {
    number: u64,
    name: Option<Cow<'static, str>>,
    /// Taken out while the task runs.
    body: Option<Body>,
}

/// Future of a task, and its wakers.
pub(super) struct Body {
    future: Pin<Box<dyn Future<Output = ()>>>,
    wake: Arc<TaskWake>,
    waker: Waker,
}

impl Tasks {
    /// Adds a task that isn't ready yet; returns its waker.
    pub(super) fn add(
        &mut self,
        name: Option<Cow<'static, str>>,
        future: Pin<Box<dyn Future<Output = ()>>>,
        inbox: &Arc<Inbox>,
    ) -> Waker {
        self.spawned += 1;
        let number = self.spawned;
        let place = self.tasks.insert(Task { number, name, body: None });
        let wake = TaskWake::new(TaskId { place, number }, inbox);
        let waker = Waker::from(Arc::clone(&wake));
        if let Some(task) = self.tasks.get_mut(place) {
            task.body = Some(Body { future, wake, waker: waker.clone() });
        }
        waker
    }

    /// Takes a task's body to run it; `None` if the task has ended.
    pub(super) fn take(&mut self, id: TaskId) -> Option<Body> {
        self.tasks.get_mut(id.place).filter(|task| task.number == id.number)?.body.take()
    }

    /// Puts a body back.
    pub(super) fn put_back(&mut self, id: TaskId, body: Body) {
        if let Some(task) = self.tasks.get_mut(id.place) {
            task.body = Some(body);
        }
    }

    /// Removes a task that has ended.
    pub(super) fn remove(&mut self, id: TaskId) {
        self.tasks.try_remove(id.place);
    }

    /// Names of all tasks.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |task: &Task| match &task.name {
            Some(name) => name.to_string(),
            None => format!("task {}", task.number),
        };
        self.tasks.iter().map(|(_, task)| task).map(name).collect()
    }
}

impl Body {
    pub(super) fn poll(&mut self) -> Poll<()> {
        self.wake.begin_poll();
        self.future.as_mut().poll(&mut Context::from_waker(&self.waker))
    }
}

/// Future of a task's output. If dropped, the task continues.
pub struct JoinHandle<T> {
    outcome: Rc<RefCell<Outcome<T>>>,
}

struct Outcome<T> {
    output: Option<T>,
    waker: Option<Waker>,
}

impl<T> JoinHandle<T> {
    /// Handle, and a future that runs `future` and stores its output for the handle.
    pub(super) fn of<F: Future<Output = T>>(future: F) -> (Self, impl Future<Output = ()>) {
        let outcome = Rc::new(RefCell::new(Outcome { output: None, waker: None }));
        let handle = Self { outcome: Rc::clone(&outcome) };
        let task = async move {
            let output = future.await;
            outcome.borrow_mut().output = Some(output);
            let waker = outcome.borrow_mut().waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        (handle, task)
    }

    /// Returns true if the task has ended and its output hasn't been taken.
    pub fn is_finished(&self) -> bool {
        self.outcome.borrow().output.is_some()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut outcome = self.outcome.borrow_mut();
        if let Some(output) = outcome.output.take() {
            return Poll::Ready(output);
        }
        outcome.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Lets every other ready task run first.
#[must_use = "it does nothing until it is awaited"]
#[derive(Debug, Default)]
pub struct YieldNow {
    has_yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
