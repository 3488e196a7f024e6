use super::PageStore;
use crate::{HEADER_BYTES, PageError, PageNumber};

impl PageStore {
    /// Sets the store's header in this handle's next commit, atomically with its pages. Suitable
    /// for an engine's root page, log position or schema version.
    ///
    /// # Errors
    /// As for [`put`](PageStore::put).
    pub fn set_header(&mut self, header: [u8; HEADER_BYTES]) -> Result<(), PageError> {
        self.change_page(PageNumber::HEADER, Some(header.into()))
    }

    /// Returns the header as changed by this handle, or as last committed; zeros in a new store.
    ///
    /// # Errors
    /// As for [`read_into`](PageStore::read_into).
    pub fn header(&self) -> Result<[u8; HEADER_BYTES], PageError> {
        let changed = self.changes.get(&PageNumber::HEADER).and_then(Option::as_deref);
        match changed.and_then(<[u8]>::first_chunk) {
            Some(header) => Ok(*header),
            None => self.store.header(),
        }
    }
}
