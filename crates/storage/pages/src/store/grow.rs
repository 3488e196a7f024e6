//! More pages for an open store.

use std::cell::RefCell;

use super::Store;
use crate::PageError;
use crate::label::Label;
use crate::signal::Turn;

/// Growths of an open store, one after the other.
#[derive(Debug, Default)]
pub(super) struct Growth {
    turn: Turn,
    /// As a growth last made it; before the first, as it was when the store was opened.
    label: RefCell<Option<Label>>,
    /// A growth to this label has begun, and hasn't ended.
    begun: RefCell<Option<Label>>,
}

impl Store {
    /// Gives the store more pages, `pages` in all, while it goes on; the device must be
    /// [long enough](Store::grown_bytes) by now, and this makes its
    /// length durable: a sync of its file beside the store would take errors that the store has to see. The new ones hold what the
    /// device held; under `out-of-place` they are zeros. When this returns the new number is durable; a power cut before leaves the
    /// old one or the new one, and loses nothing. If its future is dropped before that, the next growth ends it first.
    ///
    /// Under `direct`, `auto` and `out-of-place`, and without [`home_sums`](crate::CreateOptions::home_sums), as many can be
    /// added as there is room behind the store; else up to [`pages_max`](crate::CreateOptions::pages_max). Under `out-of-place`
    /// zones are added, with as much [spare room](crate::CreateOptions::spare_percent) as a new store would have; the largest batch
    /// stays as it is until the store is opened again.
    ///
    /// # Errors
    /// The layout has no room for so many, they are fewer than there are, or the device is too small; or the
    /// device fails: then the store stops.
    pub async fn grow(&self, pages: u64) -> Result<(), PageError> {
        let _mine = self.growing.turn.take().await;
        let disk = self.home.disk();
        disk.check_writable()?;
        let begun = self.growing.begun.borrow().clone();
        if let Some(begun) = begun {
            self.grow_to(begun).await?;
        }
        let label = self.grown(pages)?;
        label.check_fits(disk.shape().capacity_bytes)?;
        if pages == self.pages() {
            return Ok(());
        }
        debug_assert!(pages > self.pages(), "{} pages to {pages}", self.pages());
        // A label that survives a power cut must not name pages that the device has no room for then.
        disk.flush_length().await?;
        self.growing.begun.replace(Some(label.clone()));
        self.grow_to(label).await
    }

    /// How long the device must be to [grow](Store::grow) the store to so many pages.
    ///
    /// # Errors
    /// The layout has no room for so many, or they are fewer than there are.
    pub fn grown_bytes(&self, pages: u64) -> Result<u64, PageError> {
        Ok(self.grown(pages)?.end_bytes())
    }

    /// Its label as it is by now, with more pages.
    fn grown(&self, pages: u64) -> Result<Label, PageError> {
        let label = self.growing.label.borrow();
        let label = label.as_ref().unwrap_or(self.home.label());
        debug_assert_eq!(label.pages, self.home.pages(), "each growth has its label");
        label.grown(pages, self.policy.area_bytes(pages.saturating_add(label.hidden_pages())))
    }

    async fn grow_to(&self, label: Label) -> Result<(), PageError> {
        self.labels.write(self.home.disk(), &label).await?;
        self.policy.grow(&label).await?;
        self.home.grow(label.pages);
        self.growing.begun.replace(None);
        self.growing.label.replace(Some(label));
        Ok(())
    }
}
