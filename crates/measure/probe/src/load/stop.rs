use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nandle_io::Nanos;

/// Limits of a run. It ends at the first one reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stop {
    /// Bytes requested.
    pub bytes: Option<u64>,
    /// Time, measured from the start of counting.
    pub time: Option<Nanos>,
}

impl Stop {
    /// Stops after a time.
    pub fn after(time: Nanos) -> Self {
        Self { bytes: None, time: Some(time) }
    }

    /// Stops after a number of bytes.
    pub fn after_bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), time: None }
    }
}

/// Flag that interrupts runs from outside at any time.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a flag shared with a signal handler.
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Interrupts all runs that use this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Resets the flag, so that later runs can proceed.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns true if the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
