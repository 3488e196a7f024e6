use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nandle_io::Nanos;

/// When a run ends: at whichever limit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stop {
    /// After this many bytes were asked for.
    pub bytes: Option<u64>,
    /// After this much time, counted from where requests begin to count.
    pub time: Option<Nanos>,
}

impl Stop {
    /// After a time.
    pub fn after(time: Nanos) -> Self {
        Self { bytes: None, time: Some(time) }
    }

    /// After a number of bytes.
    pub fn after_bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), time: None }
    }
}

/// A flag by which a user ends runs from outside, at any moment.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is shared with a signal handler.
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Ends the runs that look at this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets runs go on that look at this flag, once what it was to end has ended.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
