use nandle_io::Buffer;

use crate::{HEADER_BYTES, PageNumber};

/// Changes of pages that take effect together. The last change of a page applies. Batches with more
/// changes than [`Store::largest_batch`](crate::Store::largest_batch) are
/// [refused](crate::PageError::BatchTooLarge).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    changes: Vec<(PageNumber, Change)>,
    header: Option<Box<[u8; HEADER_BYTES]>>,
}

/// Change of a page.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put(Buffer),
    Discard,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a page's contents, as long as a page ([`Store::buffer`](crate::Store::buffer)).
    pub fn put(&mut self, page: PageNumber, contents: Buffer) {
        self.changes.push((page, Change::Put(contents)));
    }

    /// Discards a page's contents. Until it is rewritten, reads return zeros, anything that it held
    /// before, or a mixture of these. It may look torn, whatever the policy promises, and read
    /// differently after a power cut. With `direct` and `auto` reads may return whatever the device
    /// gives for discarded blocks. They never return contents of a lost batch. To distinguish
    /// discarded pages from written ones, record them in a page of the same batch.
    pub fn discard(&mut self, page: PageNumber) {
        self.changes.push((page, Change::Discard));
    }

    /// Sets the store's header, suitable for an engine's root page, log position or schema version.
    /// It is atomic with the pages of the batch; with `direct` and `auto` it behaves like another
    /// page. Counts as one change.
    pub fn set_header(&mut self, header: [u8; HEADER_BYTES]) {
        self.header = Some(Box::new(header));
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.changes.len() + usize::from(self.header.is_some())
    }

    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn header(&self) -> Option<&[u8; HEADER_BYTES]> {
        self.header.as_deref()
    }

    /// Splits the header off into a batch of its own.
    pub(crate) fn take_header(&mut self) -> Self {
        Self { changes: Vec::new(), header: self.header.take() }
    }

    pub(crate) fn changes(&self) -> &[(PageNumber, Change)] {
        &self.changes
    }

    pub(crate) fn of(changes: Vec<(PageNumber, Change)>) -> Self {
        Self { changes, header: None }
    }

    /// Changes of pages. The header becomes one of them before a batch reaches a policy.
    pub(crate) fn into_changes(self) -> Vec<(PageNumber, Change)> {
        self.changes
    }
}
