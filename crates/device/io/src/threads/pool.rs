use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::call::Call;
use crate::io::Wake;
use crate::{Cause, Nanos, clock};

/// State shared by the owner thread and the workers.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<(u32, Call)>,
    done: Vec<Done>,
    idle_workers: usize,
    woken: bool,
    closing: bool,
}

/// Completed call.
pub(super) struct Done {
    pub(super) slot: u32,
    pub(super) completed_at: Nanos,
    pub(super) result: Result<(), Cause>,
}

/// Worker threads. Dropping the pool ends idle ones and abandons those that are stuck in a call.
pub(super) struct Pool {
    pub(super) shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    workers_max: usize,
    /// The system's error when it refused another thread.
    refusal: Option<String>,
}

impl Pool {
    pub(super) fn new(workers_max: usize) -> Self {
        Self { shared: Arc::default(), workers: Vec::new(), workers_max, refusal: None }
    }

    pub(super) fn workers_max(&self) -> usize {
        self.workers_max
    }

    /// Queues a call for a worker. Starts another worker if all are busy and the limit allows.
    pub(super) fn start(&mut self, slot: u32, call: Call) {
        let mut state = self.shared.lock();
        state.calls.push_back((slot, call));
        let all_busy = state.calls.len() > state.idle_workers;
        drop(state);
        if all_busy && self.workers.len() < self.workers_max {
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new().name("nandle-io".into()).spawn(move || work(&shared));
            match spawned {
                Ok(worker) => self.workers.push(worker),
                // An existing worker, or the owner itself, will run the call.
                Err(error) => {
                    self.refusal = Some(format!("{} threads, no more: {error}", self.workers.len()));
                }
            }
        }
        self.shared.work.notify_one();
    }

    /// The system's error when it refused another thread.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Runs queued calls in this thread, one after the other, if no worker could be started.
    pub(super) fn run_without_workers(&self) {
        while self.workers.is_empty()
            && let Some((slot, call)) = self.shared.next_call()
        {
            let result = call.run();
            self.shared.report(Done { slot, completed_at: clock::monotonic(), result });
        }
    }

    /// Ends the workers; joins them only if none can be stuck in a call. Queued calls are dropped:
    /// after a world is gone no write is expected.
    pub(super) fn close(&mut self, wait: bool) {
        let mut state = self.shared.lock();
        state.closing = true;
        state.calls.clear();
        drop(state);
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            if wait {
                let _ = worker.join();
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_call(&self) -> Option<(u32, Call)> {
        self.lock().calls.pop_front()
    }

    fn report(&self, done: Done) {
        self.lock().done.push(done);
    }

    /// Waits for `calls` results, a wake-up, or the deadline; then takes the results. If it doesn't
    /// wait, it leaves a wake-up for the next wait.
    pub(super) fn take_done(&self, calls: usize, until: Option<Nanos>, into: &mut Vec<Done>) {
        let mut state = self.lock();
        while state.done.len() < calls && !state.woken {
            state = match until {
                None => self.done.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.since(clock::monotonic());
                    if left == Nanos::ZERO {
                        break;
                    }
                    let waited = self.done.wait_timeout(state, Duration::from(left));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.woken &= calls == 0;
        into.append(&mut state.done);
    }
}

impl Wake for Shared {
    fn wake(&self) {
        self.lock().woken = true;
        self.done.notify_one();
    }
}

/// Main loop of a worker.
fn work(shared: &Shared) {
    let mut state = shared.lock();
    loop {
        if let Some((slot, call)) = state.calls.pop_front() {
            drop(state);
            let result = call.run();
            let completed_at = clock::monotonic();
            state = shared.lock();
            state.done.push(Done { slot, completed_at, result });
            shared.done.notify_one();
        } else if state.closing {
            return;
        } else {
            state.idle_workers += 1;
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle_workers -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{DeviceFile, FileOptions};
    use crate::{Arena, Operation};

    #[test]
    fn calls_that_were_not_begun_are_dropped_with_the_pool() {
        let file = DeviceFile::new(tempfile::tempfile().unwrap(), FileOptions::default()).unwrap();
        let write = Operation::write(0, Arena::new(4096).unwrap().allocate(4096).unwrap().freeze());
        let mut pool = Pool::new(0);
        pool.start(0, Call::new(Arc::new(file), &write));
        pool.close(false);
        assert!(pool.shared.next_call().is_none());
    }
}
