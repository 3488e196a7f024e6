use std::cell::Cell;
use std::rc::Rc;

use nandle_io::Nanos;
use nandle_io::runtime::Handle;

use crate::signal::Signal;

/// Gate that admits concurrent calls. Closing it keeps new calls out, and can wait until all calls
/// inside have ended. Measures the time during which a call was inside.
pub(super) struct Gate {
    handle: Handle,
    inside: Cell<usize>,
    is_closed: Cell<bool>,
    changed: Signal,
    /// Time since which a call has been inside, if one is.
    since: Cell<Nanos>,
    /// Total earlier time with a call inside.
    busy: Cell<Nanos>,
}

/// A call inside the gate, until dropped.
pub(super) struct Inside<'a>(&'a Gate);

/// Keeps the gate closed until dropped.
pub(super) struct Closed(Rc<Gate>);

impl Gate {
    pub(super) fn new(handle: &Handle) -> Rc<Self> {
        Rc::new(Self {
            handle: handle.clone(),
            inside: Cell::new(0),
            is_closed: Cell::new(false),
            changed: Signal::default(),
            since: Cell::new(Nanos::ZERO),
            busy: Cell::new(Nanos::ZERO),
        })
    }

    pub(super) async fn enter(&self) -> Inside<'_> {
        self.changed.wait(|| (!self.is_closed.get()).then_some(())).await;
        if self.inside.replace(self.inside.get() + 1) == 0 {
            self.since.set(self.handle.now());
        }
        Inside(self)
    }

    /// Closes the gate immediately, unless it is closed.
    pub(super) fn close(self: &Rc<Self>) -> Option<Closed> {
        (!self.is_closed.replace(true)).then(|| Closed(Rc::clone(self)))
    }

    /// Total time with a call inside.
    pub(super) fn busy(&self) -> Nanos {
        let now = if self.inside.get() > 0 { self.handle.now() - self.since.get() } else { Nanos::ZERO };
        self.busy.get() + now
    }
}

impl Closed {
    /// Waits until no call is inside.
    pub(super) async fn emptied(&self) {
        self.0.changed.wait(|| (self.0.inside.get() == 0).then_some(())).await;
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let gate = self.0;
        debug_assert!(gate.inside.get() > 0, "a call that leaves has come in");
        if gate.inside.get() == 1 {
            gate.busy.set(gate.busy());
        }
        gate.inside.set(gate.inside.get() - 1);
        if gate.is_closed.get() {
            gate.changed.notify();
        }
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        debug_assert!(self.0.is_closed.get(), "one task at a time closes the gate, and only it opens it");
        self.0.is_closed.set(false);
        self.0.changed.notify();
    }
}
