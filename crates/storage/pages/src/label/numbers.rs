//! Page numbers of callers. The header's page has a number that callers don't see, so later pages
//! are numbered one higher inside the store. It directly follows the pages of the new store, so
//! growth doesn't move it.

use super::Label;
use crate::{PageError, PageNumber, home_sums};

impl Label {
    /// Pages in addition to those of callers.
    pub(crate) fn hidden_pages(&self) -> u64 {
        u64::from(self.header_page.is_some())
    }

    /// Pages available to callers.
    pub(crate) fn outer_pages(&self) -> u64 {
        self.pages - self.hidden_pages()
    }

    /// Page of the store for a caller's number; `None` for the header of a store without one.
    pub(crate) fn inner(&self, page: PageNumber) -> Option<PageNumber> {
        if page == PageNumber::HEADER {
            return self.header_page;
        }
        let is_behind = self.header_page.is_some_and(|header| page >= header);
        Some(PageNumber(page.0 + u64::from(is_behind)))
    }

    /// Caller's number of a page of the store.
    pub(crate) fn outer(&self, page: PageNumber) -> PageNumber {
        match self.header_page {
            Some(header) if page == header => PageNumber::HEADER,
            Some(header) if page > header => PageNumber(page.0 - 1),
            _ => page,
        }
    }

    /// Label of the grown store. With zones, `area_bytes` is the new length of the area.
    pub(crate) fn grown(&self, outer_pages: u64, area_bytes: Option<u64>) -> Result<Self, PageError> {
        let pages = outer_pages.saturating_add(self.hidden_pages());
        let most = if self.sums_bytes > 0 { home_sums::pages_max(self.sums_chunks) } else { u64::MAX };
        let refused = if pages < self.pages {
            Some("it has more already, and a store doesn't shrink")
        } else if pages > most {
            Some(
                "there is no room for their checksums: make a store with a larger `pages_max`, and copy them",
            )
        } else {
            None
        };
        match refused {
            Some(why) => Err(PageError::CannotGrow { policy: self.policy, to: outer_pages, why }),
            None => Ok(self.with_pages(pages, area_bytes.unwrap_or(self.area_bytes))),
        }
    }

    /// Label with `pages` pages, and an area of `area_bytes`.
    pub(crate) fn with_pages(&self, pages: u64, area_bytes: u64) -> Self {
        debug_assert!(area_bytes >= self.area_bytes, "{area_bytes} bytes are fewer than {}", self.area_bytes);
        let home_offset = self.home_offset.max(self.area_offset.saturating_add(area_bytes));
        Self { pages, area_bytes, home_offset, ..self.clone() }
    }

    /// Translates page numbers in an error to those of callers.
    pub(crate) fn outer_error(&self, error: PageError) -> PageError {
        match error {
            PageError::Damaged { page, place, got, expected } => {
                PageError::Damaged { page: self.outer(page), place, got, expected }
            }
            PageError::SumsLost { first, offset_bytes } => {
                PageError::SumsLost { first: self.outer(first), offset_bytes }
            }
            error => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, PolicyKind};

    #[test]
    fn callers_name_all_pages_but_the_header_in_a_row() {
        let options = CreateOptions::new(PolicyKind::Direct, 4096, 10);
        let label = Label::plan(&options, 0, 0).unwrap().grown(20, None).unwrap();
        assert_eq!((label.pages, label.outer_pages()), (21, 20));
        assert_eq!(label.inner(PageNumber::HEADER), Some(PageNumber(10)));
        let inner: Vec<_> = (0..20).map(|page| label.inner(PageNumber(page)).unwrap()).collect();
        assert!(inner.is_sorted() && !inner.contains(&PageNumber(10)));
        for page in (0..20).map(PageNumber).chain([PageNumber::HEADER]) {
            assert_eq!(label.outer(label.inner(page).unwrap()), page);
        }
    }

    #[test]
    fn errors_name_pages_as_callers_do() {
        let options = CreateOptions::new(PolicyKind::StableRing, 4096, 10);
        let label = Label { pages: 21, ..Label::plan(&options, 8192, 1 << 20).unwrap() };
        let (place, got, expected, offset_bytes) = ("its home", 1, 2, 4096);
        for (inner, outer) in [(9, PageNumber(9)), (10, PageNumber::HEADER), (11, PageNumber(10))] {
            let damaged = |page| PageError::Damaged { page, place, got, expected };
            let lost = |first| PageError::SumsLost { first, offset_bytes };
            assert_eq!(label.outer_error(damaged(PageNumber(inner))), damaged(outer));
            assert_eq!(label.outer_error(lost(PageNumber(inner))), lost(outer));
        }
    }

    #[test]
    fn earlier_stores_have_no_header() {
        let options = CreateOptions::new(PolicyKind::Direct, 4096, 10);
        let label = Label { header_page: None, pages: 10, ..Label::plan(&options, 0, 0).unwrap() };
        assert_eq!((label.outer_pages(), label.inner(PageNumber::HEADER)), (10, None));
        assert_eq!(label.inner(PageNumber(9)), Some(PageNumber(9)));
    }
}
