use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use nandle_io::{Device, Io};

use super::{Lane, LaneOptions, LoadError, Measurement};

/// Opens the device for one submitting thread, in a separate world with the given number of request
/// slots.
pub type Opener<'a> = dyn Fn(u32) -> Result<(Box<dyn Io>, Device), String> + Sync + 'a;

/// Runs the same load on several threads, each on its own lane, and merges the results. The threads
/// start together: the first run on each lane waits until all are ready to submit. They share the
/// memory of the read pool.
///
/// A single thread is the caller's own. The kernel keeps a thread alive until its outstanding
/// requests complete, so joining a thread on a stalled device would block. With several threads,
/// the first to detect a stall calls `stalled` at once; its error is returned when the threads end.
///
/// # Errors
/// The first error of any thread, in thread order.
pub fn run_on_threads(
    open: &Opener<'_>,
    threads: u32,
    slots: u32,
    options: LaneOptions,
    run: &(dyn Fn(u32, &mut Lane) -> Result<Measurement, LoadError> + Sync),
    stalled: &(dyn Fn(&LoadError) + Sync),
) -> Result<Measurement, LoadError> {
    let options =
        LaneOptions { read_pool_bytes: options.read_pool_bytes / u64::from(threads.max(1)), ..options };
    if threads <= 1 {
        return run(0, &mut open_lane(open, slots, options)?);
    }
    let start = Arc::new(Start::of(threads));
    let on_thread = |number, ticket| {
        let mut lane = open_lane(open, slots, options)?;
        lane.ticket = Some(ticket);
        let result = run(number, &mut lane);
        if let Err(error @ LoadError::Stalled { .. }) = &result {
            stalled(error);
        }
        result
    };
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for number in 0..threads {
            let ticket = Ticket { start: Arc::clone(&start) };
            match Builder::new().spawn_scoped(scope, move || on_thread(number, ticket)) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    start.call_off();
                    return Err(LoadError::Opening(format!(
                        "submitting thread {number} of {threads}: {error}"
                    )));
                }
            }
        }
        let mut sum = Measurement::new();
        for handle in handles {
            sum.merge(&handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(sum)
    })
}

/// Start barrier of the threads. A `std` barrier would wait for ever for a thread that could not be
/// started.
struct Start {
    state: Mutex<StartState>,
    changed: Condvar,
}

struct StartState {
    missing: u32,
    called_off: bool,
}

/// A thread's arrival at the start barrier. Dropping an unused ticket counts as arrival, so the
/// other threads don't wait for a thread that failed to set up.
pub(super) struct Ticket {
    start: Arc<Start>,
}

impl Ticket {
    /// Waits until all threads have arrived.
    ///
    /// # Errors
    /// The start was called off.
    pub(super) fn wait(self) -> Result<(), LoadError> {
        let start = Arc::clone(&self.start);
        drop(self);
        start.wait()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.start.arrive();
    }
}

impl Start {
    fn of(threads: u32) -> Self {
        Self {
            state: Mutex::new(StartState { missing: threads, called_off: false }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, StartState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self) {
        let mut state = self.lock();
        state.missing = state.missing.saturating_sub(1);
        self.changed.notify_all();
    }

    fn wait(&self) -> Result<(), LoadError> {
        let mut state = self.lock();
        while state.missing > 0 && !state.called_off {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.called_off { Err(LoadError::Cancelled) } else { Ok(()) }
    }

    fn call_off(&self) {
        self.lock().called_off = true;
        self.changed.notify_all();
    }
}

fn open_lane(open: &Opener<'_>, slots: u32, options: LaneOptions) -> Result<Lane, LoadError> {
    let (io, device) = open(slots).map_err(LoadError::Opening)?;
    Lane::new(io, device, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tickets(count: u32) -> (Arc<Start>, Vec<Ticket>) {
        let start = Arc::new(Start::of(count));
        let tickets = (0..count).map(|_| Ticket { start: Arc::clone(&start) }).collect();
        (start, tickets)
    }

    #[test]
    fn a_thread_that_fails_to_start_blocks_no_other() {
        let (start, mut tickets) = tickets(3);
        let missing = tickets.pop();
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                tickets.into_iter().map(|ticket| scope.spawn(|| ticket.wait().is_err())).collect();
            start.call_off();
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap()));
        });
        drop(missing);
    }

    #[test]
    fn a_thread_that_fails_to_set_up_blocks_no_other() {
        let (_, mut tickets) = tickets(3);
        tickets.pop();
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                tickets.into_iter().map(|ticket| scope.spawn(|| ticket.wait().is_ok())).collect();
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap()));
        });
    }
}
