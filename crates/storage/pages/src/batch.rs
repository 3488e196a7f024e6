use nandle_io::Buffer;

use crate::PageNumber;

/// Changes to pages that belong together. What comes later in a batch wins. How many it may have the store says
/// ([`Store::largest_batch`](crate::Store::largest_batch)); one with more is [refused](crate::PageError::BatchTooLarge).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    changes: Vec<(PageNumber, Change)>,
}

/// What happens to a page.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put(Buffer),
    Discard,
}

impl Batch {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a page new contents, which have the length of a page ([`Store::buffer`](crate::Store::buffer)).
    pub fn put(&mut self, page: PageNumber, contents: Buffer) {
        self.changes.push((page, Change::Put(contents)));
    }

    /// Says that a page's contents are needed no more. Until it is written again, reading it gives zeros, anything that it
    /// held before or a mixture of these (so it may look torn, whatever the policy promises, and differently after a power
    /// cut), or, with `direct` and `auto`, whatever the device gives for discarded blocks. It never gives what a batch
    /// contained that didn't survive. Who has to tell a discarded page from a written one keeps a note of it in a page of
    /// the same batch.
    pub fn discard(&mut self, page: PageNumber) {
        self.changes.push((page, Change::Discard));
    }

    /// How many changes it has.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether it has no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn changes(&self) -> &[(PageNumber, Change)] {
        &self.changes
    }

    pub(crate) fn of(changes: Vec<(PageNumber, Change)>) -> Self {
        Self { changes }
    }

    pub(crate) fn into_changes(self) -> Vec<(PageNumber, Change)> {
        self.changes
    }
}
