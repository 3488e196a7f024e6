use super::PageStore;
use crate::{HEADER_BYTES, PageError, PageNumber};

impl PageStore {
    /// Gives the store another header, from this handle's next commit on: the same commit makes it durable, or doesn't. An engine
    /// keeps its root page, its position in a log or the number of its schema in it.
    ///
    /// # Errors
    /// As for [`put`](PageStore::put).
    pub fn set_header(&mut self, header: [u8; HEADER_BYTES]) -> Result<(), PageError> {
        self.change_page(PageNumber::HEADER, Some(header.into()))
    }

    /// The header as this handle has changed it, or else as it was committed last; zeros in a new store.
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
