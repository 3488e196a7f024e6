use super::finding::{Finding, Severity};
use super::{Doubt, PageSet};
use crate::PageNumber;

/// What became of the pages of a store, and how sound it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Pages whose contents are surely those that were written last.
    pub sound: u64,
    /// Pages that were never written, or were discarded.
    pub empty: u64,
    /// Pages that can be read, and of which no checksum is known. Those of a store that keeps none are all unchecked.
    pub unchecked: PageSet,
    /// Pages whose newest version is lost, and of which an older one is left.
    pub older: PageSet,
    /// Pages of which a newer version may be lost: extents are missing, and which pages they held isn't known.
    pub doubtful: PageSet,
    /// How many of the doubtful pages can be older than they were, at most.
    pub doubtful_max: u64,
    /// Pages of which nothing is left.
    pub lost: PageSet,
    /// How far the header can be trusted; `None` where none was set, or it is lost.
    pub header: Option<PageState>,
    /// Whether a header was set, and nothing is left of it.
    pub header_lost: bool,
    /// Whether the store was closed; `None` where its policy doesn't tell.
    pub is_closed: Option<bool>,
    /// Whether nothing but the given options says how many pages the store was made with. If it was made with others and has grown,
    /// pages behind the lesser number have other numbers, and so has the header.
    pub is_numbering_assumed: bool,
    /// The gravest of all findings.
    pub worst: Option<Severity>,
    /// How many findings there were.
    pub findings: u64,
}

/// How far the contents of a page can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageState {
    /// They are surely those that were written last.
    Sound,
    /// They can be read, and no checksum is known of them.
    Unchecked,
    /// They are whole and older than those that were written last.
    Older,
    /// They are whole; a newer version may be lost.
    Doubtful,
}

impl Report {
    /// Whether nothing is damaged, whatever a power cut may have left.
    pub fn is_sound(&self) -> bool {
        self.worst.is_none_or(|worst| worst == Severity::Harmless)
    }

    pub(super) fn note(&mut self, finding: &Finding) {
        self.worst = self.worst.max(Some(finding.severity));
        self.findings += 1;
    }

    /// A page, as callers name it, with contents.
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

    /// A page without contents.
    pub(super) fn count_empty(&mut self, page: PageNumber, doubt: Option<Doubt>) {
        match doubt {
            Some(_) => self.count_doubtful(page),
            None if page == PageNumber::HEADER => {}
            None => self.empty += 1,
        }
    }

    /// A page without contents that may have had some.
    pub(super) fn count_doubtful(&mut self, page: PageNumber) {
        if page == PageNumber::HEADER {
            self.header = Some(PageState::Doubtful);
        } else {
            self.doubtful.insert(page);
        }
    }

    /// A page of which nothing is left.
    pub(super) fn count_lost(&mut self, page: PageNumber) {
        if page == PageNumber::HEADER {
            self.header_lost = true;
        } else {
            self.lost.insert(page);
        }
    }
}
