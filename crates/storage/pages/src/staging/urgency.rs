use std::cell::Cell;
use std::rc::Rc;

use crate::write_log::Context;

/// Calls that can't leave a flush to commits, because they wait for what it makes durable.
pub(super) struct Urgency {
    context: Rc<Context>,
    calls: Cell<usize>,
    is_stopped: Cell<bool>,
}

/// Flushes are urgent as long as it lives.
pub(super) struct UrgentGuard<'a>(&'a Urgency);

impl Urgency {
    pub(super) fn new(context: &Rc<Context>) -> Self {
        Self { context: Rc::clone(context), calls: Cell::default(), is_stopped: Cell::default() }
    }

    /// From now on until it is dropped, flushes are urgent.
    pub(super) fn begin(&self) -> UrgentGuard<'_> {
        self.calls.update(|calls| calls + 1);
        self.context.disk.recheck();
        UrgentGuard(self)
    }

    /// Whether a call waits, or no commits come any more.
    pub(super) fn is_urgent(&self) -> bool {
        self.calls.get() > 0 || self.is_stopped.get()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// No commits come any more.
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
