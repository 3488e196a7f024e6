//! Reads of a query that is over must end at once, while its operators look up only when they have computed what they are at.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nandle_reads::Stopper;

use crate::EngineError;

/// The reads of a scan's partitions.
#[derive(Debug, Default)]
pub(crate) struct Stoppers(Mutex<Running>);

#[derive(Debug, Default)]
struct Running {
    is_stopped: bool,
    reads: Vec<Stopper>,
}

impl Stoppers {
    /// Reads begin; an error where they need not any more.
    pub(crate) fn add(&self, reads: Stopper) -> Result<(), EngineError> {
        let mut running = self.running();
        if running.is_stopped {
            return Err(EngineError::Interrupted);
        }
        running.reads.push(reads);
        Ok(())
    }

    /// Stops all, and those that are still to begin.
    pub(crate) fn stop(&self) {
        let mut running = self.running();
        running.is_stopped = true;
        for reads in running.reads.drain(..) {
            reads.stop();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
