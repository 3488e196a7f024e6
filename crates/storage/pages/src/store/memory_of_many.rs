use nandle_io::{Arena, BufferMut};

use crate::{PageError, Store};

/// Of the store's memory, what one call may fill: this part.
const MEMORY_OF_MANY_SHARE: usize = 8;

/// The same in pages.
fn share_pages(store: &Store) -> usize {
    store.arena().bytes() / MEMORY_OF_MANY_SHARE / store.page_bytes()
}

/// Pages of one call that are on their way to the device at the same time, at most.
const READS_AT_ONCE: usize = 256;

/// How many pages of one call are read at the same time, so that no call has the device for itself, or all the memory in which
/// packed pages are unpacked.
pub(super) fn pages_at_once(store: &Store) -> usize {
    share_pages(store).clamp(1, READS_AT_ONCE)
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
