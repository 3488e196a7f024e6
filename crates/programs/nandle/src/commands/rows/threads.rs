//! Cooperating threads: if one fails, the others stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use nandle_io::Io;
use nandle_io::runtime::{Handle, Runtime};

use super::{Memory, SpillArgs, Temporary};
use crate::error::CliError;

/// With less memory per thread, shorter runs and smaller partitions cost more than threads gain.
const THREAD_MEMORY_BYTES: usize = 16 << 20;

/// Number of threads. One if the work needs it, and on a modelled drive, since each world has its
/// own.
pub(crate) fn threads(args: &SpillArgs, memory: &Memory, temporary: &Temporary, needs_one: bool) -> usize {
    if needs_one || temporary.is_modelled {
        if args.threads.is_some_and(|wanted| wanted > 1) {
            let why = if needs_one {
                "the order of equal records decides which of them stay"
            } else {
                "each world has a modelled drive of its own"
            };
            nandle_terminal::output::note(&format!(
                "One thread works, not as many as --threads says, because {why}."
            ));
        }
        return 1;
    }
    let processors = thread::available_parallelism().map_or(1, usize::from);
    args.threads.unwrap_or_else(|| processors.min(memory.budget.bytes() / THREAD_MEMORY_BYTES)).max(1)
}

/// Stop signal for threads, with its cause.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_set: AtomicBool,
    /// First error. Later ones may follow from it.
    first: Mutex<Option<CliError>>,
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Returns an error if threads should stop. It is never shown: the first one is.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        if self.is_set() { Err(CliError::failed("another thread failed")) } else { Ok(()) }
    }

    fn fail(&self, error: CliError) {
        lock(&self.first).get_or_insert(error);
        self.is_set.store(true, Ordering::Release);
    }

    fn result(&self) -> Result<(), CliError> {
        lock(&self.first).take().map_or(Ok(()), Err)
    }
}

/// Locks shared state, even if poisoned: a thread that panicked has stopped all others.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops the threads on a panic.
struct Watch<'a>(&'a Stop);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(CliError::failed("a thread panicked; this is an error in nandle"));
        }
    }
}

/// Runs threads, each with its own part and world, and waits for all.
pub(crate) fn in_threads<T: Send>(
    stop: &Stop,
    world: impl Fn() -> Result<Box<dyn Io>, CliError> + Sync,
    parts: Vec<T>,
    work: impl AsyncFn(T, &Handle) -> Result<(), CliError> + Sync,
) -> Result<(), CliError> {
    in_threads_beside(stop, world, parts, work, || Ok(()))
}

/// Runs threads while this thread executes `beside`.
pub(crate) fn in_threads_beside<T: Send>(
    stop: &Stop,
    world: impl Fn() -> Result<Box<dyn Io>, CliError> + Sync,
    parts: Vec<T>,
    work: impl AsyncFn(T, &Handle) -> Result<(), CliError> + Sync,
    beside: impl FnOnce() -> Result<(), CliError>,
) -> Result<(), CliError> {
    let work_on = |part: T| {
        let _watch = Watch(stop);
        let done = world().and_then(|world| {
            let runtime = Runtime::new(world);
            let handle = runtime.handle();
            runtime.block_on(work(part, &handle))
        });
        if let Err(error) = done {
            stop.fail(error);
        }
    };
    let work_on = &work_on;
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for part in parts {
            let name = "nandle-work".to_owned();
            match thread::Builder::new().name(name).spawn_scoped(scope, move || work_on(part)) {
                Ok(thread) => threads.push(thread),
                Err(error) => stop.fail(CliError::failed(format!("starting a thread: {error}"))),
            }
        }
        if let Err(error) = beside() {
            stop.fail(error);
        }
        for thread in threads {
            // A thread that panicked has reported it.
            _ = thread.join();
        }
    });
    stop.result()
}

#[cfg(test)]
mod tests {
    use nandle_io::{FileWorld, Nanos};

    use super::*;

    fn world() -> Result<Box<dyn Io>, CliError> {
        Ok(FileWorld::new(4).map_err(|error| CliError::failed(error.to_string()))?.into_io())
    }

    #[test]
    fn one_that_fails_stops_the_others_and_its_error_is_told() {
        let stop = Stop::default();
        let work = async |part: u32, handle: &Handle| {
            if part == 1 {
                return Err(CliError::failed("the first error"));
            }
            loop {
                stop.check()?;
                handle.sleep(Nanos::from_micros(100)).await;
            }
        };
        let error = in_threads(&stop, world, vec![0, 1, 2], work).unwrap_err();
        assert!(error.to_string().contains("the first error"), "{error}");
    }

    #[test]
    fn one_that_panics_stops_the_others() {
        let stop = Stop::default();
        let work = async |part: u32, handle: &Handle| {
            assert!(part != 1, "it panics");
            while !stop.is_set() {
                handle.sleep(Nanos::from_micros(100)).await;
            }
            Ok(())
        };
        let error = in_threads(&stop, world, vec![0, 1], work).unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
    }
}
