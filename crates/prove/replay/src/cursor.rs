use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::versions::Versions;
use crate::work::{Step, Work};

/// Where in the work a candidate is, and what it wrote last to each page. Shared by the tasks that do the work.
pub(crate) struct Cursor {
    work: Rc<Work>,
    next: Cell<usize>,
    /// The next step that the present stretch doesn't have.
    end: Cell<usize>,
    /// Ends a stretch early.
    stop: OnceCell<Box<dyn Fn() -> bool>>,
    versions: RefCell<Versions>,
}

impl Cursor {
    pub(crate) fn new(work: &Rc<Work>) -> Self {
        Self {
            work: Rc::clone(work),
            next: Cell::new(0),
            end: Cell::new(0),
            stop: OnceCell::new(),
            versions: RefCell::new(Versions::new(work.pages)),
        }
    }

    /// Opens a stretch of so many steps. `false` when the work is done.
    pub(crate) fn open_stretch(&self, steps: usize) -> bool {
        let all = self.work.steps().len().saturating_mul(self.work.passes.max(1) as usize);
        self.end.set((self.next.get() + steps).min(all));
        self.next.get() < self.end.get()
    }

    /// Ends stretches early from when `stop` says so.
    pub(crate) fn stop_when(&self, stop: impl Fn() -> bool + 'static) {
        // The answer of the first time stands.
        let _ = self.stop.set(Box::new(stop));
    }

    /// Whether `stop` says that it is time.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.get().is_some_and(|stop| stop())
    }

    /// The next step of the stretch.
    pub(crate) fn take(&self) -> Option<Step> {
        let next = self.next.get();
        if next >= self.end.get() || self.is_stopped() {
            return None;
        }
        self.next.set(next + 1);
        self.work.steps().get(next % self.work.steps().len()).copied()
    }

    /// A new version of a page.
    pub(crate) fn new_version(&self, page: u64) -> u32 {
        self.versions.borrow_mut().increment(page)
    }

    /// The page may hold anything from now on.
    pub(crate) fn forget(&self, page: u64) {
        self.versions.borrow_mut().forget(page);
    }

    /// The pages that were written, with what they must hold.
    pub(crate) fn expected(&self) -> Vec<(u64, u32)> {
        self.versions.borrow().known().collect()
    }
}
