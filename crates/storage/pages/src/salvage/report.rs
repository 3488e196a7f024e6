use super::finding::{Finding, Severity};
use super::{Doubt, PageSet};
use crate::PageNumber;

/// State of a store and its pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Number of pages with their last written contents.
    pub sound: u64,
    /// Number of pages never written, or discarded.
    pub empty: u64,
    /// Readable pages with unknown checksums. Includes all pages of a store without checksums.
    pub unchecked: PageSet,
    /// Pages whose newest version is lost, with an older one left.
    pub older: PageSet,
    /// Pages with a possibly lost newer version, because extents with unknown pages are missing.
    pub doubtful: PageSet,
    /// Maximum number of doubtful pages that are outdated.
    pub doubtful_max: u64,
    /// Pages without any version left.
    pub lost: PageSet,
    /// State of the header; `None` if it was never set, or is lost.
    pub header: Option<PageState>,
    /// True if a header was set and is lost.
    pub header_lost: bool,
    /// True if the store was closed; `None` if its policy doesn't record it.
    pub is_closed: Option<bool>,
    /// True if only the given options tell the initial number of pages. If they are wrong and the
    /// store has grown, the header and the pages behind the smaller number have other numbers.
    pub is_numbering_assumed: bool,
    /// Worst severity of all findings.
    pub worst: Option<Severity>,
    /// Number of findings.
    pub findings: u64,
}

/// State of a page's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageState {
    /// Certainly the last written contents.
    Sound,
    /// Readable, with unknown checksum.
    Unchecked,
    /// Intact, but older than the last write.
    Older,
    /// Intact, but a newer version may be lost.
    Doubtful,
}

impl Report {
    /// Returns true if nothing is damaged, apart from effects of a power cut.
    pub fn is_sound(&self) -> bool {
        self.worst.is_none_or(|worst| worst == Severity::Harmless)
    }

    pub(super) fn note(&mut self, finding: &Finding) {
        self.worst = self.worst.max(Some(finding.severity));
        self.findings += 1;
    }

    /// Counts a page with contents, by the caller's number.
    pub(super) fn count(&mut self, page: PageNumber, state: PageState) {
        if page == PageNumber::HEADER {
            self.header = Some(state);
            return;
        }
        match state {
            PageState::Sound => self.sound += 1,
            PageState::Unchecked => self.unchecked.insert(page),
            PageState::Older => self.older.insert(page),
            PageState::Doubtful => self.doubtful.insert(page),
        }
    }

    /// Counts a page without contents.
    pub(super) fn count_empty(&mut self, page: PageNumber, doubt: Option<Doubt>) {
        match doubt {
            Some(_) => self.count_doubtful(page),
            None if page == PageNumber::HEADER => {}
            None => self.empty += 1,
        }
    }

    /// Counts a page without contents that may have had some.
    pub(super) fn count_doubtful(&mut self, page: PageNumber) {
        if page == PageNumber::HEADER {
            self.header = Some(PageState::Doubtful);
        } else {
            self.doubtful.insert(page);
        }
    }

    /// Counts a lost page.
    pub(super) fn count_lost(&mut self, page: PageNumber) {
        if page == PageNumber::HEADER {
            self.header_lost = true;
        } else {
            self.lost.insert(page);
        }
    }
}
