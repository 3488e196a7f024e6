//! Consistent reads of many pages during concurrent batches.
//!
//! Such a read fetches its pages one by one. It is valid if no batch with one of them was in
//! progress at its start or arrived before its end, as all pages then belong to one state.
//! Otherwise it is repeated. After several attempts it takes a turn among the batches, so that none
//! intervenes.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use rustc_hash::FxHashSet;

use crate::{Batch, PageNumber};

/// The batch being accepted, and reads that it may disturb.
#[derive(Default)]
pub(super) struct StateWatch {
    /// Pages of the batch.
    accepting: RefCell<Vec<PageNumber>>,
    reads: RefCell<Vec<Weak<WatchedRead>>>,
}

/// A read of these pages.
pub(super) struct WatchedRead {
    pages: FxHashSet<PageNumber>,
    is_disturbed: Cell<bool>,
}

impl WatchedRead {
    /// Returns true if a batch may have changed one of its pages.
    pub(super) fn is_disturbed(&self) -> bool {
        self.is_disturbed.get()
    }
}

/// Marks a batch as being accepted, until dropped.
pub(super) struct Accepting<'a>(&'a StateWatch);

impl StateWatch {
    /// Begins a read.
    pub(super) fn read(&self, pages: &[PageNumber]) -> Rc<WatchedRead> {
        let pages: FxHashSet<_> = pages.iter().copied().collect();
        let is_disturbed = Cell::new(self.accepting.borrow().iter().any(|page| pages.contains(page)));
        let read = Rc::new(WatchedRead { pages, is_disturbed });
        let mut reads = self.reads.borrow_mut();
        reads.retain(|read| read.strong_count() > 0);
        reads.push(Rc::downgrade(&read));
        read
    }

    /// Begins to accept a batch; only one may be in progress.
    pub(super) fn accept(&self, batch: &Batch) -> Accepting<'_> {
        let mut accepting = self.accepting.borrow_mut();
        debug_assert!(accepting.is_empty(), "one batch is accepted at a time");
        accepting.extend(batch.changes().iter().map(|(page, _)| *page));
        for read in self.reads.borrow().iter().filter_map(Weak::upgrade) {
            if accepting.iter().any(|page| read.pages.contains(page)) {
                read.is_disturbed.set(true);
            }
        }
        Accepting(self)
    }
}

impl Drop for Accepting<'_> {
    fn drop(&mut self) {
        self.0.accepting.borrow_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(page: u64) -> Batch {
        let mut batch = Batch::new();
        batch.discard(PageNumber(page));
        batch
    }

    #[test]
    fn a_read_is_disturbed_by_batches_with_its_pages_alone() {
        let watch = StateWatch::default();
        let pages = [PageNumber(3), PageNumber(5)];
        let read = watch.read(&pages);
        drop(watch.accept(&batch(4)));
        assert!(!read.is_disturbed());
        let accepting = watch.accept(&batch(5));
        assert!(read.is_disturbed(), "a batch came");
        assert!(watch.read(&pages).is_disturbed(), "a batch is being accepted");
        drop(accepting);
        assert!(!watch.read(&pages).is_disturbed());
        assert!(watch.accepting.borrow().is_empty());
    }
}
