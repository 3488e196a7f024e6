//! Concurrent reads of many pages as of one state.

use std::rc::Rc;

use nandle_io::Buffer;

use super::Store;
use super::memory_of_many::{MemoryOfMany, pages_at_once};
use crate::defects::Defect;
use crate::{PageError, PageNumber};

/// Attempts of a read before it takes a turn among the batches.
const TRIES_BESIDE_BATCHES: usize = 3;

impl Store {
    /// Reads pages as of one state, which includes each batch entirely or not at all, and every
    /// batch whose `write` or `commit` had returned. Results are in the order of `pages`. Batches
    /// continue meanwhile; if they are so frequent that no consistent state is read, some wait for
    /// this call.
    ///
    /// Under a policy without [atomic batches](crate::Promises::atomic_batch) each page is as some
    /// batch left it, but they may belong to different states.
    ///
    /// [`PageNumber::HEADER`] stands for the page whose first [`HEADER_BYTES`](crate::HEADER_BYTES)
    /// are the header. A store of a version without headers refuses it ([`PageError::NoHeader`]).
    ///
    /// If the pages exceed an eighth of the store's memory, or its free memory, they are returned
    /// in separate memory.
    ///
    /// # Errors
    /// As for [`read`](Store::read); the first error in this order.
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
        // Awaits all reads, so that none continues after the call.
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
