//! Header of a store, kept in a page of its own that callers can't address by number.

use std::rc::Rc;

use nandle_io::{Arena, Buffer};

use super::Store;
use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::label::Label;
use crate::{Batch, HEADER_BYTES, PageError, PageNumber};

/// Writes a zeroed header for a new store, without a flush. In zones unwritten pages read as zeros
/// anyway.
pub(super) async fn format(disk: &Rc<Disk>, label: &Label) -> Result<(), PageError> {
    let Some(header) = label.header_page.filter(|_| !label.policy.has_zones()) else { return Ok(()) };
    let mut page = Arena::new(label.page_length())?.allocate(label.page_length())?;
    page.fill(0);
    disk.write("writing the header", label.home_of(header), [page.freeze()].into_iter().collect()).await
}

impl Store {
    /// Returns the header of the last [batch](Batch::set_header) that set one; zeros in a new
    /// store, and in one of a version without headers. Sees every batch whose `write` or `commit`
    /// has returned. To read it together with pages of the same state, pass [`PageNumber::HEADER`]
    /// to [`read_many`](Store::read_many).
    ///
    /// # Errors
    /// As for [`read`](Store::read).
    pub async fn header(&self) -> Result<[u8; HEADER_BYTES], PageError> {
        let Some(page) = self.home.label().header_page else {
            self.home.disk().check_running()?;
            return Ok([0; HEADER_BYTES]);
        };
        let contents = self.read_inner(page, self.buffer()?).await?;
        let header = contents.first_chunk().copied();
        Ok(header.unwrap_or_else(|| unreachable!("a page is longer than the header")))
    }

    /// Page of the store for a caller's number.
    pub(super) fn inner(&self, page: PageNumber) -> Result<PageNumber, PageError> {
        self.home.label().inner(page).ok_or(PageError::NoHeader)
    }

    pub(super) fn outer_error(&self, error: PageError) -> PageError {
        self.home.label().outer_error(error)
    }

    /// Batch in the form for policies: with inner page numbers, and the header as a page.
    pub(super) fn inner_batch(&self, batch: Batch) -> Result<Batch, PageError> {
        let header = batch.header().map(|header| self.header_page(header)).transpose()?;
        let mut changes = batch.into_changes();
        for (page, _) in &mut changes {
            *page = self.inner(*page)?;
        }
        changes.extend(header.map(|(page, contents)| (page, Change::Put(contents))));
        Ok(Batch::of(changes))
    }

    /// Writes the header before the batch, if that defect is [seeded](Defect::HeaderApart).
    pub(super) async fn write_apart(&self, batch: &mut Batch) -> Result<(), PageError> {
        if !Defect::HeaderApart.is_seeded() || batch.header().is_none() {
            return Ok(());
        }
        let header = self.inner_batch(batch.take_header())?;
        self.policy.write(header).await?;
        self.policy.sync().await.map(drop)
    }

    fn header_page(&self, header: &[u8; HEADER_BYTES]) -> Result<(PageNumber, Buffer), PageError> {
        let mut contents = self.buffer()?;
        contents.fill(0);
        contents.iter_mut().zip(header).for_each(|(into, from)| *into = *from);
        Ok((self.inner(PageNumber::HEADER)?, contents.freeze()))
    }
}
