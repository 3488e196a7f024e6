use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::index::PageIndex;
use crate::{Batch, PageNumber, Store};

/// The store's thread's side of the [index](super::index): publishes and withdraws places.
pub(super) struct IndexWriter {
    index: Arc<PageIndex>,
    /// Number of batches in progress with a page. Its place is published only after all of them are
    /// accepted or refused.
    under_way: RefCell<FxHashMap<PageNumber, usize>>,
}

impl IndexWriter {
    /// Publishes all pages known after an opening.
    pub(super) fn new(index: Arc<PageIndex>, store: &Store) -> Self {
        let new = Self { index, under_way: RefCell::default() };
        new.publish_known(store);
        new
    }

    /// Begins an era after the store was reopened. No batch may be in progress.
    pub(super) fn begin_era(&self, store: &Store) {
        debug_assert!(self.under_way.borrow().is_empty(), "batches ended with the store that stopped");
        self.index.begin_era();
        self.publish_known(store);
    }

    /// Ends reads when the store stops.
    pub(super) fn stop_with(&self, store: &Store) {
        let index = Arc::clone(&self.index);
        store.on_failure(move || index.stop());
    }

    fn publish_known(&self, store: &Store) {
        for page in store.known() {
            self.index.forget(page);
            self.publish(page, store);
        }
        self.stop_with(store);
    }

    /// Withdraws the pages of an arriving batch. Returns their inner numbers, for
    /// [`end`](IndexWriter::end).
    pub(super) fn begin(&self, batch: &Batch, store: &Store) -> Vec<PageNumber> {
        // The store refuses batches with other pages. Only the store's thread reads the header.
        let pages = store.pages();
        let known = batch.changes().iter().map(|(page, _)| *page).filter(|page| page.0 < pages);
        let known: Vec<_> = known.filter_map(|page| store.label().inner(page)).collect();
        let mut under_way = self.under_way.borrow_mut();
        for page in &known {
            *under_way.entry(*page).or_default() += 1;
            self.index.forget(*page);
        }
        known
    }

    /// Records that the batch was accepted or refused.
    pub(super) fn end(&self, pages: &[PageNumber], store: &Store) {
        for page in pages {
            let mut under_way = self.under_way.borrow_mut();
            let Some(batches) = under_way.get_mut(page) else {
                unreachable!("a batch that ends has begun: {page}")
            };
            debug_assert!(*batches > 0, "{page} would have left with its last batch");
            *batches -= 1;
            if *batches == 0 {
                under_way.remove(page);
            }
            drop(under_way);
            self.publish(*page, store);
        }
    }

    /// Publishes the place of a page that a caller has read.
    pub(super) fn publish_outer(&self, page: PageNumber, store: &Store) {
        store.label().inner(page).into_iter().for_each(|page| self.publish(page, store));
    }

    /// Publishes the place of a page if known.
    fn publish(&self, page: PageNumber, store: &Store) {
        if self.under_way.borrow().contains_key(&page) {
            return;
        }
        if let Some(place) = store.locate(page) {
            self.index.put(page, place);
        }
    }

    /// Ends reads outside the store's thread.
    pub(super) fn close(&self) {
        self.index.close();
    }
}
