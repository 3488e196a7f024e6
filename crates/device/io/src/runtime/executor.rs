use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::device::AsyncDevice;
use super::inbox::{ForeignWakes, Inbox, TaskId, TaskWake};
use super::requests::Requests;
use super::task::{JoinHandle, Tasks, YieldNow};
use super::timers::{Sleep, Timers};
use crate::{Arena, Backend, Completion, Device, DeviceId, DriveCounters, Io, Nanos, Wait};

/// Runs tasks on one world, in its owner thread; see the [module](super).
pub struct Runtime {
    handle: Handle,
}

/// Tasks' handle to their runtime. A clone is another handle to the same one.
#[derive(Clone)]
pub struct Handle {
    core: Rc<Core>,
}

/// State of a runtime. Each part has its own cell, and none is borrowed while a task runs or a
/// waker is called.
pub(super) struct Core {
    pub(super) io: RefCell<Box<dyn Io>>,
    pub(super) requests: RefCell<Requests>,
    pub(super) timers: RefCell<Timers>,
    tasks: RefCell<Tasks>,
    inbox: Arc<Inbox>,
    /// Reused at every turn.
    reaped: RefCell<Vec<Completion>>,
    is_running: Cell<bool>,
}

impl Runtime {
    /// Runtime on its own world.
    pub fn new(mut io: Box<dyn Io>) -> Self {
        let inbox = Inbox::new(io.waker());
        let core = Core {
            io: RefCell::new(io),
            requests: RefCell::default(),
            timers: RefCell::default(),
            tasks: RefCell::default(),
            inbox,
            reaped: RefCell::default(),
            is_running: Cell::new(false),
        };
        Self { handle: Handle { core: Rc::new(core) } }
    }

    /// Handle for tasks.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs a future to completion, and the spawned tasks alongside. Unfinished tasks continue in
    /// the next call.
    ///
    /// # Panics
    /// Panics if nothing can ever wake the future again, naming the waiting tasks. Panics if a task
    /// panics, or if called within itself.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let core = &self.handle.core;
        let _running = Running::begin(&core.is_running);
        let mut future = pin!(future);
        let wake = TaskWake::new(TaskId::ROOT, &core.inbox);
        let waker = Waker::from(Arc::clone(&wake));
        waker.wake_by_ref();
        loop {
            for _ in 0..core.inbox.ready() {
                match core.inbox.pop() {
                    Some(TaskId::ROOT) => {
                        wake.begin_poll();
                        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                        if let Poll::Ready(output) = polled {
                            return output;
                        }
                    }
                    Some(task) => core.run(task),
                    None => break,
                }
            }
            core.turn();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Tasks hold handles to the core that holds them.
        let tasks = self.handle.core.tasks.take();
        drop(tasks);
    }
}

/// Prevents a nested `block_on`.
struct Running<'a>(&'a Cell<bool>);

impl<'a> Running<'a> {
    fn begin(is_running: &'a Cell<bool>) -> Self {
        assert!(!is_running.replace(true), "block_on inside of block_on: spawn a task instead");
        Self(is_running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Core {
    pub(super) fn now(&self) -> Nanos {
        self.io.borrow().now()
    }

    fn run(&self, task: TaskId) {
        let body = self.tasks.borrow_mut().take(task);
        let Some(mut body) = body else { return };
        match body.poll() {
            Poll::Pending => self.tasks.borrow_mut().put_back(task, body),
            Poll::Ready(()) => self.tasks.borrow_mut().remove(task),
        }
    }

    /// Sends requests, and collects everything that wakes tasks: completions, deadlines, wake-ups.
    /// Waits for one of them if no task is ready.
    fn turn(&self) {
        let wait = if self.inbox.ready() > 0 { Wait::NONE } else { self.next_wait() };
        let wait = if wait == Wait::NONE || self.inbox.park() { wait } else { Wait::NONE };
        let mut reaped = self.reaped.take();
        let now = {
            let mut io = self.io.borrow_mut();
            io.reap(wait, &mut reaped);
            io.now()
        };
        self.inbox.unpark();
        for completion in reaped.drain(..) {
            let waker = self.requests.borrow_mut().complete(completion);
            waker.into_iter().for_each(Waker::wake);
        }
        self.reaped.replace(reaped);
        self.requests.borrow_mut().send_waiting(&mut **self.io.borrow_mut());
        self.wake_due(now);
    }

    fn wake_due(&self, now: Nanos) {
        loop {
            let due = self.timers.borrow_mut().pop_due(now);
            match due {
                Some(waker) => waker.wake(),
                None => return,
            }
        }
    }

    /// Wait condition when no task is ready.
    fn next_wait(&self) -> Wait {
        let deadline = self.timers.borrow().next();
        let io = self.io.borrow();
        match deadline {
            // A sleeping thread wakes late, so the last part is spent polling. Without slack, time
            // may be virtual, and polling would never end.
            Some(deadline) if deadline <= io.now() + io.timer_slack() => Wait::NONE,
            Some(deadline) => Wait::until_time(deadline.since(io.timer_slack())),
            None if self.requests.borrow().outstanding() > 0 || self.inbox.may_be_woken() => {
                Wait::until_completed(1)
            }
            None => self.deadlock(io.now()),
        }
    }

    fn deadlock(&self, now: Nanos) -> ! {
        let mut names = vec!["the future of block_on".to_owned()];
        names.extend(self.tasks.borrow().names());
        panic!(
            "deadlock at {now}: no task is ready, no request is in flight, no task sleeps, and no other thread \
             may wake one of those that wait: {}",
            names.join(", ")
        )
    }
}

impl Handle {
    /// Spawns a task.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        self.spawn_task(None, future)
    }

    /// Spawns a task with a name for deadlock reports.
    pub fn spawn_named<T: 'static>(
        &self,
        name: impl Into<Cow<'static, str>>,
        future: impl Future<Output = T> + 'static,
    ) -> JoinHandle<T> {
        self.spawn_task(Some(name.into()), future)
    }

    fn spawn_task<T: 'static>(
        &self,
        name: Option<Cow<'static, str>>,
        future: impl Future<Output = T> + 'static,
    ) -> JoinHandle<T> {
        let (handle, task) = JoinHandle::of(future);
        let waker = self.core.tasks.borrow_mut().add(name, Box::pin(task), &self.core.inbox);
        waker.wake();
        handle
    }

    /// Sleeps for a span of time.
    pub fn sleep(&self, span: Nanos) -> Sleep {
        self.sleep_until(self.now() + span)
    }

    /// Sleeps until a time on the world's clock.
    pub fn sleep_until(&self, deadline: Nanos) -> Sleep {
        Sleep::new(Rc::clone(&self.core), deadline)
    }

    /// Current time of the world.
    pub fn now(&self) -> Nanos {
        self.core.now()
    }

    /// Lets every other ready task run first.
    pub fn yield_now(&self) -> YieldNow {
        YieldNow::default()
    }

    /// Devices of the world.
    pub fn devices(&self) -> Vec<Device> {
        self.core.io.borrow().devices().to_vec()
    }

    /// Requests that haven't completed, including those whose futures were dropped.
    pub fn outstanding_requests(&self) -> usize {
        self.core.requests.borrow().outstanding()
    }

    /// Name and features of the world, and its fallbacks so far.
    pub fn backend(&self) -> Backend {
        self.core.io.borrow().backend()
    }

    /// Counters of a drive, if it has any; see [`Io::counters`].
    pub fn counters(&self, id: DeviceId) -> Option<DriveCounters> {
        self.core.io.borrow().counters(id)
    }

    /// Device of the world. Requests to a nonexistent device complete with an error.
    pub fn device(&self, id: DeviceId) -> AsyncDevice {
        AsyncDevice::new(Rc::clone(&self.core), id)
    }

    /// Registers an arena with the world; see [`Io::register`].
    pub fn register(&self, arena: &Arena) -> usize {
        self.core.io.borrow_mut().register(arena)
    }

    /// Announces wake-ups by other threads without a [channel](super::channel()).
    pub fn foreign_wakes(&self) -> ForeignWakes {
        ForeignWakes::new(&self.core.inbox)
    }
}
