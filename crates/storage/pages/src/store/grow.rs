//! Growth of an open store.

use std::cell::RefCell;

use super::Store;
use crate::PageError;
use crate::label::Label;
use crate::signal::Turn;

/// State of growths, which are serialised.
#[derive(Debug, Default)]
pub(super) struct Growth {
    turn: Turn,
    /// Label after the last growth; `None` before the first.
    label: RefCell<Option<Label>>,
    /// Label of a growth in progress.
    begun: RefCell<Option<Label>>,
}

impl Store {
    /// Grows the store to `pages` pages while it is in use. The device must be [long
    /// enough](Store::grown_bytes); this call makes its length durable, because a separate sync of
    /// the file would consume errors that the store must see. New pages hold the device's contents,
    /// or zeros under `out-of-place`. The new number is durable when this returns. An earlier power
    /// cut leaves the old number or the new one, and loses nothing. If the future is dropped, the
    /// next growth completes this one first.
    ///
    /// Under `direct`, `auto` and `out-of-place`, and without
    /// [`home_sums`](crate::CreateOptions::home_sums), the room behind the store is the only limit;
    /// otherwise [`pages_max`](crate::CreateOptions::pages_max) applies. Under `out-of-place` zones
    /// are added, with as much [spare room](crate::CreateOptions::spare_percent) as in a new store;
    /// the largest batch stays the same until the store is reopened.
    ///
    /// # Errors
    /// The layout has no room for `pages` pages, the store has more pages already, or the device is
    /// too small. Or the device fails, which stops the store.
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
        // A label that survives a power cut must not name pages beyond the device's durable length.
        disk.flush_length().await?;
        self.growing.begun.replace(Some(label.clone()));
        self.grow_to(label).await
    }

    /// Length that the device needs to [grow](Store::grow) the store to `pages` pages.
    ///
    /// # Errors
    /// The layout has no room for `pages` pages, or the store has more pages already.
    pub fn grown_bytes(&self, pages: u64) -> Result<u64, PageError> {
        Ok(self.grown(pages)?.end_bytes())
    }

    /// Current label with more pages.
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
