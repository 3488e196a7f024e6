use nandle_io::{Arena, BufferMut};

use crate::{PageError, Store};

/// Of the store's memory, what one call may fill: this part.
const MEMORY_OF_MANY_SHARE: usize = 8;

/// The same in pages.
pub(super) fn share_pages(store: &Store) -> usize {
    store.arena().bytes() / MEMORY_OF_MANY_SHARE / store.page_bytes()
}

/// Memory for the pages of one call: the store's, where they are few, else their own. The call's result holds all of them, so
/// waiting for others to give memory back could last for ever.
pub(super) struct MemoryOfMany {
    own: Option<Arena>,
    left_pages: usize,
}

impl MemoryOfMany {
    pub(super) fn new(store: &Store, pages: usize) -> Result<Self, PageError> {
        let mut memory = Self { own: None, left_pages: pages };
        if pages > share_pages(store) {
            memory.take_own(store)?;
        }
        Ok(memory)
    }

    /// As much as is still needed.
    fn take_own(&mut self, store: &Store) -> Result<(), PageError> {
        self.own = Some(Arena::new(self.left_pages * store.page_bytes())?);
        Ok(())
    }

    pub(super) fn page(&mut self, store: &Store) -> Result<BufferMut, PageError> {
        if self.own.is_none() {
            match store.buffer() {
                Ok(buffer) => {
                    self.left_pages -= 1;
                    return Ok(buffer);
                }
                Err(PageError::Memory(_)) => self.take_own(store)?,
                Err(error) => return Err(error),
            }
        }
        let Some(own) = &self.own else { unreachable!("it was taken if the store has none") };
        debug_assert!(self.left_pages > 0, "each page asks once");
        self.left_pages -= 1;
        Ok(own.allocate(store.page_bytes())?)
    }
}
