use std::cell::Cell;
use std::rc::Rc;

use crate::write_log::Context;

/// Calls that can't wait for the flushes of commits.
pub(super) struct Urgency {
    context: Rc<Context>,
    calls: Cell<usize>,
    is_stopped: Cell<bool>,
}

/// Flushes are urgent until this is dropped.
pub(super) struct UrgentGuard<'a>(&'a Urgency);

impl Urgency {
    pub(super) fn new(context: &Rc<Context>) -> Self {
        Self { context: Rc::clone(context), calls: Cell::default(), is_stopped: Cell::default() }
    }

    /// Makes flushes urgent until the guard is dropped.
    pub(super) fn begin(&self) -> UrgentGuard<'_> {
        self.calls.update(|calls| calls + 1);
        self.context.disk.recheck();
        UrgentGuard(self)
    }

    /// Returns true if a call waits, or no more commits come.
    pub(super) fn is_urgent(&self) -> bool {
        self.calls.get() > 0 || self.is_stopped.get()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// Records that no more commits come.
    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
        self.context.disk.recheck();
    }
}

impl Drop for UrgentGuard<'_> {
    fn drop(&mut self) {
        let calls = &self.0.calls;
        debug_assert!(calls.get() > 0, "a guard counts itself");
        calls.update(|calls| calls - 1);
    }
}
