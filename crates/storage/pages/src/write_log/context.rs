use std::rc::Rc;

use nandle_io::Arena;

use crate::disk::Disk;
use crate::home::Home;
use crate::label::Label;
use crate::policy::Parts;
use crate::signal::Signal;
use crate::{OpenOptions, PageError};

/// Parts of the store that a log and its users share.
pub(crate) struct Context {
    pub(crate) home: Rc<Home>,
    pub(crate) disk: Rc<Disk>,
    pub(crate) label: Label,
    pub(crate) options: OpenOptions,
    /// Memory for writes and moves, separate from that of clients.
    pub(crate) arena: Arena,
    /// Signals a change of anything that others may wait for.
    pub(crate) changed: Signal,
}

impl Context {
    pub(crate) fn new(parts: Parts) -> Rc<Self> {
        let Parts { home, options, arena } = parts;
        let (disk, label) = (Rc::clone(home.disk()), home.label().clone());
        Rc::new(Self { home, disk, label, options, arena, changed: Signal::default() })
    }

    /// Waits until a condition holds; returns an error if the store stops.
    pub(crate) async fn wait_until(&self, is_so: impl Fn() -> bool) -> Result<(), PageError> {
        let is_over = || is_so() || self.disk.check_writable().is_err();
        self.changed.wait(|| is_over().then_some(())).await;
        self.disk.check_writable()?;
        debug_assert!(is_so(), "nothing ran since the wait was over");
        Ok(())
    }

    /// Stops the store, which wakes all waiting callers with an error.
    pub(crate) fn latch(&self, error: &PageError) {
        self.disk.latch(error);
        self.changed.notify();
    }
}
