use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::versions::Versions;
use crate::work::{Step, Work};

/// Position of a candidate in the work, and the last version written to each page. Shared by the
/// client tasks.
pub(crate) struct Cursor {
    work: Rc<Work>,
    next: Cell<usize>,
    /// End of the current stretch.
    end: Cell<usize>,
    /// Ends a stretch early if it returns true.
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

    /// Opens a stretch of `steps` steps. Returns false if the work is done.
    pub(crate) fn open_stretch(&self, steps: usize) -> bool {
        let all = self.work.steps().len().saturating_mul(self.work.passes.max(1) as usize);
        self.end.set((self.next.get() + steps).min(all));
        self.next.get() < self.end.get()
    }

    /// Ends stretches early once `stop` returns true.
    pub(crate) fn stop_when(&self, stop: impl Fn() -> bool + 'static) {
        // Only the first call takes effect.
        let _ = self.stop.set(Box::new(stop));
    }

    /// Returns true if `stop` does.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.get().is_some_and(|stop| stop())
    }

    /// Takes the next step of the stretch.
    pub(crate) fn take(&self) -> Option<Step> {
        let next = self.next.get();
        if next >= self.end.get() || self.is_stopped() {
            return None;
        }
        self.next.set(next + 1);
        self.work.steps().get(next % self.work.steps().len()).copied()
    }

    /// Assigns a new version to a page.
    pub(crate) fn new_version(&self, page: u64) -> u32 {
        self.versions.borrow_mut().increment(page)
    }

    /// Marks the contents of a page as undefined.
    pub(crate) fn forget(&self, page: u64) {
        self.versions.borrow_mut().forget(page);
    }

    /// Pages with defined contents, and their versions.
    pub(crate) fn expected(&self) -> Vec<(u64, u32)> {
        self.versions.borrow().known().collect()
    }
}
