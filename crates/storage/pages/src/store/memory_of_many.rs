use nandle_io::{Arena, BufferMut};

use crate::{PageError, Store};

/// Divisor of the store's memory for one call.
const MEMORY_OF_MANY_SHARE: usize = 8;

/// Memory for one call in pages.
fn share_pages(store: &Store) -> usize {
    store.arena().bytes() / MEMORY_OF_MANY_SHARE / store.page_bytes()
}

/// Maximum concurrent page reads of one call.
const READS_AT_ONCE: usize = 256;

/// Number of concurrent page reads of one call, limited so that no call monopolises the device or
/// the memory to unpack pages.
pub(super) fn pages_at_once(store: &Store) -> usize {
    share_pages(store).clamp(1, READS_AT_ONCE)
}

/// Memory for the pages of one call: the store's if they are few, otherwise separate. The result
/// holds all of them, so a call that waited for free memory could wait forever.
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

    /// Allocates the rest separately.
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
