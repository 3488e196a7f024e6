//! Stops the reads of a cancelled query at once; operators notice only after their current
//! computation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nandle_reads::Stopper;

use crate::EngineError;

/// Running reads of a scan's partitions.
#[derive(Debug, Default)]
pub(crate) struct Stoppers(Mutex<Running>);

#[derive(Debug, Default)]
struct Running {
    is_stopped: bool,
    reads: Vec<Stopper>,
}

impl Stoppers {
    /// Registers reads; fails if the scan was stopped.
    pub(crate) fn add(&self, reads: Stopper) -> Result<(), EngineError> {
        let mut running = self.running();
        if running.is_stopped {
            return Err(EngineError::Interrupted);
        }
        running.reads.push(reads);
        Ok(())
    }

    /// Stops all reads, including later ones.
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
