use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;

use nandle_io::{Device, Io};

use super::{Lane, LaneOptions, LoadError, Measurement};

/// Opens the device in a world of its own for each submitting thread, with room for that many requests.
pub type Opener<'a> = dyn Fn(u32) -> Result<(Box<dyn Io>, Device), String> + Sync + 'a;

/// Runs the same load on several threads at once, each on its own lane, and adds up what they gave. They begin
/// together, when the last one is set up. `run` gets the thread's number and its lane.
///
/// A single thread is the caller's own: a thread that ends while the device owes it an answer is held by the kernel
/// until the answer comes, and whoever waits for the thread would wait with it.
///
/// # Errors
/// The first thread's that has one.
pub fn run_on_threads(
    open: &Opener<'_>,
    threads: u32,
    slots: u32,
    options: LaneOptions,
    run: &(dyn Fn(u32, &mut Lane) -> Result<Measurement, LoadError> + Sync),
) -> Result<Measurement, LoadError> {
    if threads <= 1 {
        return run(0, &mut open_lane(open, slots, options)?);
    }
    let start = &Start::of(threads);
    let on_thread = |number| {
        let lane = open_lane(open, slots, options);
        // Every thread comes to the start, also one that could not be set up.
        match start.arrive_and_wait() {
            Go::Run => run(number, &mut lane?),
            Go::Off => lane.and(Err(LoadError::Cancelled)),
        }
    };
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for number in 0..threads {
            match Builder::new().spawn_scoped(scope, move || on_thread(number)) {
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

/// Where threads wait for one another. A barrier would wait for ever for a thread that could not be started.
struct Start {
    state: Mutex<StartState>,
    changed: Condvar,
}

struct StartState {
    missing: u32,
    called_off: bool,
}

/// What a thread does after the start.
#[derive(Debug, PartialEq, Eq)]
enum Go {
    Run,
    Off,
}

impl Start {
    fn of(threads: u32) -> Self {
        Self {
            state: Mutex::new(StartState { missing: threads, called_off: false }),
            changed: Condvar::new(),
        }
    }

    fn arrive_and_wait(&self) -> Go {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.missing = state.missing.saturating_sub(1);
        self.changed.notify_all();
        while state.missing > 0 && !state.called_off {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.called_off { Go::Off } else { Go::Run }
    }

    fn call_off(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).called_off = true;
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

    #[test]
    fn nobody_waits_for_a_thread_that_can_not_be_started() {
        let start = Start::of(3);
        std::thread::scope(|scope| {
            let waiting = [scope.spawn(|| start.arrive_and_wait()), scope.spawn(|| start.arrive_and_wait())];
            start.call_off();
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap() == Go::Off));
        });
    }
}
