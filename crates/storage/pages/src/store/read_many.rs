//! Many pages of one state, many of them on their way to the device at the same time.

use std::rc::Rc;

use nandle_io::Buffer;

use super::Store;
use super::memory_of_many::{MemoryOfMany, pages_at_once};
use crate::defects::Defect;
use crate::{PageError, PageNumber};

/// A read of many is tried so often beside batches before it takes its turn among them.
const TRIES_BESIDE_BATCHES: usize = 3;

impl Store {
    /// Reads pages, all of them of the same state: no batch is in it in part, and every batch is whose `write` or `commit` had
    /// returned. They come back in this order. Batches go on meanwhile; where they come so often that the pages are never of one
    /// state, some wait for this.
    ///
    /// Under a policy without [atomic batches](crate::Promises::atomic_batch) each page is as a batch left it, but not all are of
    /// the same state.
    ///
    /// [`PageNumber::HEADER`] is the page whose first [`HEADER_BYTES`](crate::HEADER_BYTES) are the header. A store of a version that had
    /// none refuses it ([`PageError::NoHeader`]).
    ///
    /// More pages than an eighth of the store's memory holds, or than are free, come in memory of their own.
    ///
    /// # Errors
    /// As for [`read`](Store::read), the first in this order.
    pub async fn read_many(&self, pages: &[PageNumber]) -> Result<Vec<Buffer>, PageError> {
        self.home.disk().check_running()?;
        let inner = |page: &PageNumber| match *page {
            PageNumber::HEADER => self.inner(*page),
            page => self.check_page(page).and_then(|()| self.inner(page)),
        };
        let pages: Vec<_> = pages.iter().map(inner).collect::<Result<_, _>>()?;
        self.read_one_state(&pages).await.map_err(|error| self.outer_error(error))
    }

    async fn read_one_state(&self, pages: &[PageNumber]) -> Result<Vec<Buffer>, PageError> {
        if self.policy.keeps_order() {
            return self.read_all(pages).await;
        }
        for _ in 0..TRIES_BESIDE_BATCHES {
            let watched = self.state_watch.read(pages);
            let contents = self.read_all(pages).await;
            if !watched.is_disturbed() || Defect::ManyOfSeveralStates.is_seeded() {
                return contents;
            }
        }
        let _mine = self.accepting.enter().await;
        self.read_all(pages).await
    }

    async fn read_all(&self, pages: &[PageNumber]) -> Result<Vec<Buffer>, PageError> {
        let mut memory = MemoryOfMany::new(self, pages.len())?;
        let mut contents = Vec::with_capacity(pages.len());
        for round in pages.chunks(pages_at_once(self)) {
            contents.extend(self.read_round(round, &mut memory).await?);
        }
        debug_assert_eq!(contents.len(), pages.len(), "every page was read");
        Ok(contents)
    }

    async fn read_round(
        &self,
        pages: &[PageNumber],
        memory: &mut MemoryOfMany,
    ) -> Result<Vec<Buffer>, PageError> {
        let mut coming = Vec::with_capacity(pages.len());
        let mut result = Ok(());
        self.home.disk().count(|stats| stats.pages_read += pages.len() as u64);
        for &page in pages {
            let into = match memory.page(self) {
                Ok(into) => into,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            };
            let policy = Rc::clone(&self.policy);
            let read = async move { policy.read(page, into).await };
            coming.push(self.home.disk().handle().spawn_named("page store: a read of many", read));
        }
        let mut contents = Vec::with_capacity(coming.len());
        // All of them, so that none is left when this is done.
        for read in coming {
            match read.await {
                Ok(page) => contents.push(page),
                Err(error) => result = result.and(Err(error)),
            }
        }
        debug_assert!(result.is_err() || contents.len() == pages.len(), "{} of {pages:?}", contents.len());
        result.map(|()| contents)
    }
}
