use std::fmt;

use super::Change;
use crate::contents::Found;

/// Contents that a page may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// This version; 0 means zeros.
    Version(u64),
    /// Discarded: any version that the page ever held, zeros, or a mixture. Until the page is
    /// written again, each opening may show a different one, as its destaged version needn't be
    /// durable any more.
    Discarded,
    Anything,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => Found::Whole(*version).fmt(f),
            Self::Discarded => f.write_str("what it held before it was discarded"),
            Self::Anything => f.write_str("anything"),
        }
    }
}

/// Current and earlier contents of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) held: Held,
    past: Vec<u64>,
    /// True if `past` lists all whole pages that it ever held.
    is_past_known: bool,
    /// True if this store wrote it.
    was_put: bool,
}

impl Page {
    /// A page never written.
    pub(crate) fn blank() -> Self {
        Self { held: Held::Version(0), past: Vec::new(), is_past_known: true, was_put: false }
    }

    /// A page with unknown contents. Discarded, it may return a whole page of an earlier store.
    pub(crate) fn unknown() -> Self {
        Self { held: Held::Anything, past: Vec::new(), is_past_known: false, was_put: false }
    }

    pub(crate) fn allows(&self, found: Found) -> bool {
        match (&self.held, found) {
            (Held::Anything, _)
            | (Held::Discarded, Found::Other | Found::Nothing)
            | (Held::Version(0), Found::Nothing) => true,
            (Held::Version(version), Found::Whole(found)) => *version == found,
            (Held::Discarded, Found::Whole(found)) => {
                found == 0 || !self.is_past_known || self.past.contains(&found)
            }
            (Held::Version(_), Found::Other) => false,
            // It may hold what was on the device before.
            (Held::Version(_), Found::Nothing) => !self.was_put,
        }
    }

    /// Page after a change. `promises_whole`: discards stay inside the store.
    pub(crate) fn after(&self, change: Change, promises_whole: bool) -> Self {
        let mut page = self.clone();
        match change {
            Change::Put(version) => {
                page.past.push(version);
                page.was_put = true;
                page.held = Held::Version(version);
            }
            Change::Discard if promises_whole => page.held = Held::Discarded,
            Change::Discard => page.held = Held::Anything,
        }
        page
    }

    /// Page after a recovery that showed `found`. A discarded page stays discarded.
    pub(crate) fn found(&self, found: Found) -> Self {
        let mut page = self.clone();
        if let Found::Whole(version) = found {
            page.past.push(version);
        }
        page.held = match (&self.held, found) {
            (Held::Discarded, _) => Held::Discarded,
            (_, Found::Whole(version)) => Held::Version(version),
            (_, Found::Other | Found::Nothing) => Held::Anything,
        };
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discarded_page_gives_what_it_held_and_nothing_else() {
        let page = Page::blank().after(Change::Put(7), true).after(Change::Discard, true);
        assert!(page.allows(Found::Whole(7)) && page.allows(Found::Whole(0)) && page.allows(Found::Other));
        assert!(!page.allows(Found::Whole(129)));
    }

    #[test]
    fn a_page_is_empty_until_it_is_written() {
        let page = Page::unknown().found(Found::Whole(129));
        assert!(page.allows(Found::Nothing) && !page.allows(Found::Whole(0)));
        let page = page.after(Change::Put(7), true);
        assert!(!page.allows(Found::Nothing) && !page.found(Found::Whole(7)).allows(Found::Nothing));
        assert!(page.after(Change::Discard, true).allows(Found::Nothing));
    }

    #[test]
    fn a_discarded_page_may_give_back_what_a_store_before_left_there() {
        let page = Page::unknown().after(Change::Discard, true);
        assert!(page.allows(Found::Whole(129)), "nothing is known of what it held");
        let page = Page::unknown().after(Change::Put(7), true);
        assert!(!page.allows(Found::Whole(129)), "what was written is known");
        assert!(
            page.after(Change::Discard, true).allows(Found::Whole(129)),
            "the write may not have come to its home"
        );
    }

    #[test]
    fn a_discarded_page_may_give_back_another_version_at_each_opening() {
        for page in [Page::blank(), Page::unknown()] {
            let page =
                page.after(Change::Put(7), true).after(Change::Put(9), true).after(Change::Discard, true);
            assert!(
                page.found(Found::Whole(9)).allows(Found::Whole(7)),
                "9 was in the drive's cache: {page:?}"
            );
        }
    }
}
