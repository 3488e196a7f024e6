//! Checks of calls' arguments.

use super::Store;
use crate::batch::Change;
use crate::{Batch, PageError, PageNumber};

impl Store {
    pub(super) fn check_page(&self, page: PageNumber) -> Result<(), PageError> {
        let pages = self.pages();
        if page.0 < pages { Ok(()) } else { Err(PageError::BeyondEnd { page, pages }) }
    }

    pub(super) fn check_batch(&self, batch: &Batch) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        let most = self.largest_batch();
        if batch.len() > most {
            return Err(self.policy().refuses_batch(batch.len(), most));
        }
        if batch.header().is_some() {
            self.inner(PageNumber::HEADER)?;
        }
        let expected = self.page_bytes();
        for (page, change) in batch.changes() {
            self.check_page(*page)?;
            match change {
                Change::Put(contents) if contents.len() != expected => {
                    let got = contents.len();
                    return Err(PageError::PageLength { page: *page, got, expected });
                }
                Change::Put(_) | Change::Discard => {}
            }
        }
        Ok(())
    }
}
