use nandle_pages::{BatchNumber, PageError, PageNumber, Store};

use crate::contents::{Found, read};
use crate::scenario::Scenario;

/// Used pages of a store. The oracle's page *n* is the *n*th of them. The first may be the header
/// instead.
pub(crate) struct Places {
    /// In ascending order.
    pages: Vec<u64>,
    has_header: bool,
}

/// Used pages as read, `None` where the read failed.
pub(crate) struct Seen {
    /// Number of pages of the store.
    pub(crate) pages: u64,
    pub(crate) found: Vec<Option<Found>>,
    /// Last batch reported by the opening.
    pub(crate) last: BatchNumber,
}

impl Places {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self { pages: scenario.used_pages(), has_header: scenario.sets_headers }
    }

    /// Number of used pages in a store of `pages` pages.
    pub(crate) fn used(&self, pages: u64) -> u64 {
        self.pages.partition_point(|place| *place < pages) as u64
    }

    /// Number in the store of a used page.
    pub(crate) fn place(&self, page: u64) -> PageNumber {
        if page == 0 && self.has_header {
            return PageNumber::HEADER;
        }
        let place = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        PageNumber(*place.unwrap_or_else(|| panic!("page {page} of {} that are used", self.pages.len())))
    }

    /// Numbers of all used pages in a store of `pages` pages.
    pub(crate) fn all(&self, pages: u64) -> impl Iterator<Item = PageNumber> {
        (0..self.used(pages)).map(|page| self.place(page))
    }

    /// Reads all used pages, and continues after errors.
    pub(crate) async fn look(&self, store: &Store) -> Seen {
        let mut found = Vec::new();
        for page in self.all(store.pages()) {
            found.push(read(store, page).await.ok());
        }
        Seen { pages: store.pages(), found, last: store.last_durable_batch() }
    }

    /// Reads all used pages.
    pub(crate) async fn look_at_all(&self, store: &Store) -> Result<Vec<Found>, PageError> {
        let mut found = Vec::new();
        for page in self.all(store.pages()) {
            found.push(read(store, page).await?);
        }
        Ok(found)
    }
}
