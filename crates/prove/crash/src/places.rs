use nandle_pages::{BatchNumber, PageError, PageNumber, Store};

use crate::contents::{Found, read};
use crate::scenario::Scenario;

/// Pages of a store that are used; what the oracle calls page *n* is the *n*th of them. The first may be the header instead.
pub(crate) struct Places {
    /// In ascending order.
    pages: Vec<u64>,
    has_header: bool,
}

/// Used pages as they were read; none where reading failed.
pub(crate) struct Seen {
    /// Of the store.
    pub(crate) pages: u64,
    pub(crate) found: Vec<Option<Found>>,
    /// The last batch that the opening told of.
    pub(crate) last: BatchNumber,
}

impl Places {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self { pages: scenario.used_pages(), has_header: scenario.sets_headers }
    }

    /// Number of pages that are used of a store with so many.
    pub(crate) fn used(&self, pages: u64) -> u64 {
        self.pages.partition_point(|place| *place < pages) as u64
    }

    /// The store's number of a page that is used.
    pub(crate) fn place(&self, page: u64) -> PageNumber {
        if page == 0 && self.has_header {
            return PageNumber::HEADER;
        }
        let place = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        PageNumber(*place.unwrap_or_else(|| panic!("page {page} of {} that are used", self.pages.len())))
    }

    /// The store's numbers of all that are used of a store with so many pages.
    pub(crate) fn all(&self, pages: u64) -> impl Iterator<Item = PageNumber> {
        (0..self.used(pages)).map(|page| self.place(page))
    }

    /// Reads all of them, whatever is an error.
    pub(crate) async fn look(&self, store: &Store) -> Seen {
        let mut found = Vec::new();
        for page in self.all(store.pages()) {
            found.push(read(store, page).await.ok());
        }
        Seen { pages: store.pages(), found, last: store.last_durable_batch() }
    }

    /// Reads all of them.
    pub(crate) async fn look_at_all(&self, store: &Store) -> Result<Vec<Found>, PageError> {
        let mut found = Vec::new();
        for page in self.all(store.pages()) {
            found.push(read(store, page).await?);
        }
        Ok(found)
    }
}
