use nandle_io::Buffer;

use crate::{HEADER_BYTES, PageNumber};

/// Changes to pages that belong together. What comes later in a batch wins. How many it may have the store says
/// ([`Store::largest_batch`](crate::Store::largest_batch)); one with more is [refused](crate::PageError::BatchTooLarge).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    changes: Vec<(PageNumber, Change)>,
    header: Option<Box<[u8; HEADER_BYTES]>>,
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

    /// Gives the store another header, which an engine keeps its root page, its position in a log or the number of its schema in. It
    /// survives a power cut together with the pages of the batch; with `direct` and `auto`, as one page more of it. It counts as a
    /// change.
    pub fn set_header(&mut self, header: [u8; HEADER_BYTES]) {
        self.header = Some(Box::new(header));
    }

    /// How many changes it has.
    pub fn len(&self) -> usize {
        self.changes.len() + usize::from(self.header.is_some())
    }

    /// Whether it has no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn header(&self) -> Option<&[u8; HEADER_BYTES]> {
        self.header.as_deref()
    }

    /// A batch of its header alone, which it has no more.
    pub(crate) fn take_header(&mut self) -> Self {
        Self { changes: Vec::new(), header: self.header.take() }
    }

    pub(crate) fn changes(&self) -> &[(PageNumber, Change)] {
        &self.changes
    }

    pub(crate) fn of(changes: Vec<(PageNumber, Change)>) -> Self {
        Self { changes, header: None }
    }

    /// Its changes to pages. Its header is one of them when it comes to a policy.
    pub(crate) fn into_changes(self) -> Vec<(PageNumber, Change)> {
        self.changes
    }
}
