use std::collections::VecDeque;

use nandle_io::Buffer;
use rustc_hash::FxHashMap;

use crate::PageNumber;
use crate::batch::Change;

/// Batches in memory to be written as one group. Holds each page once, with its last change.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    queue: VecDeque<PageNumber>,
    changes: FxHashMap<PageNumber, Change>,
}

impl Gather {
    /// Adds changes. Returns the number of pages that were already present.
    pub(crate) fn add(&mut self, changes: Vec<(PageNumber, Change)>) -> u64 {
        let mut absorbed = 0;
        for (page, change) in changes {
            match self.changes.insert(page, change) {
                Some(_) => {
                    debug_assert!(self.queue.len() >= self.changes.len(), "{page} is in the queue");
                    absorbed += 1;
                }
                None => self.queue.push_back(page),
            }
        }
        absorbed
    }

    pub(crate) fn get(&self, page: PageNumber) -> Option<&Change> {
        self.changes.get(&page)
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        self.queue.iter().copied()
    }

    /// Takes changes from the front: at most `entries`, of which at most `puts` have contents.
    pub(crate) fn take(
        &mut self,
        entries: usize,
        puts: usize,
    ) -> (Vec<(PageNumber, Buffer)>, Vec<PageNumber>) {
        let (mut contents, mut discards) = (Vec::new(), Vec::new());
        while let Some(page) = self.queue.front().copied() {
            let is_full = contents.len() + discards.len() >= entries;
            let is_put = matches!(self.changes.get(&page), Some(Change::Put(_)));
            if is_full || (is_put && contents.len() >= puts) {
                break;
            }
            self.queue.pop_front();
            match self.changes.remove(&page) {
                Some(Change::Put(buffer)) => contents.push((page, buffer)),
                Some(Change::Discard) => discards.push(page),
                None => debug_assert!(false, "{page} is in the queue and has no change"),
            }
        }
        debug_assert_eq!(self.queue.len(), self.changes.len(), "a page is in both or in neither");
        (contents, discards)
    }

    /// Number of the first `most` changes with contents.
    pub(crate) fn puts_ahead(&self, most: usize) -> usize {
        let first = self.queue.iter().take(most);
        first.filter(|page| matches!(self.changes.get(page), Some(Change::Put(_)))).count()
    }
}
