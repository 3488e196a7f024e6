use super::packing::Spot;
use crate::PageNumber;
use crate::defects::Defect;
use crate::size::to_usize;

/// Places of the newest version of each page.
#[derive(Debug)]
pub(super) struct Map {
    places: Vec<PagePlace>,
}

/// Last change of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PagePlace {
    /// Never written.
    #[default]
    Nowhere,
    /// Written, with contents at `spot`.
    At { spot: Spot, sum: u32, sequence: u64 },
    /// Discarded, by the header at `block`.
    Discarded { block: u64, sequence: u64 },
}

/// Place that keeps a page or its discard alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// Block of the area in which it begins.
    pub(super) block: u64,
    /// 0 for a discard.
    pub(super) stored_bytes: u32,
    /// Sequence of its extent.
    pub(super) sequence: u64,
}

impl PagePlace {
    pub(super) fn kept(self) -> Option<Kept> {
        match self {
            Self::Nowhere => None,
            Self::At { spot, sequence, .. } => Some(spot.kept(sequence)),
            Self::Discarded { block, sequence } => Some(Kept { block, stored_bytes: 0, sequence }),
        }
    }
}

impl Map {
    pub(super) fn new(pages: u64) -> Self {
        Self { places: vec![PagePlace::default(); to_usize(pages)] }
    }

    /// Extends the number of pages to at least `pages`.
    pub(super) fn grow(&mut self, pages: u64) {
        let pages = to_usize(pages).max(self.places.len());
        self.places.resize(pages, PagePlace::Nowhere);
    }

    pub(super) fn get(&self, page: PageNumber) -> PagePlace {
        debug_assert!(self.has(page), "{page} of {}", self.places.len());
        self.places.get(to_usize(page.0)).copied().unwrap_or_default()
    }

    /// Enters a place. Returns the previous one.
    pub(super) fn put(&mut self, page: PageNumber, place: PagePlace) -> PagePlace {
        debug_assert!(self.has(page), "{page} of {}", self.places.len());
        debug_assert!(
            place != PagePlace::Nowhere || self.get(page) == PagePlace::Nowhere,
            "{page} stays known"
        );
        debug_assert!(
            Defect::OldestWins.is_seeded()
                || self.sequence_of(page) <= place.kept().map(|kept| kept.sequence),
            "{page}: versions grow"
        );
        let entry = self.places.get_mut(to_usize(page.0));
        entry.map_or(PagePlace::Nowhere, |entry| std::mem::replace(entry, place))
    }

    fn sequence_of(&self, page: PageNumber) -> Option<u64> {
        self.get(page).kept().map(|kept| kept.sequence)
    }

    fn has(&self, page: PageNumber) -> bool {
        page.0 < self.places.len() as u64
    }

    /// Places of all pages in order.
    pub(super) fn places(&self) -> impl Iterator<Item = PagePlace> {
        self.places.iter().copied()
    }

    /// First known page from `pages` on.
    pub(super) fn first_known_from(&self, pages: u64) -> Option<Kept> {
        self.places().skip(to_usize(pages)).find_map(PagePlace::kept)
    }

    /// Pages with contents.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        let places = (0..).map(PageNumber).zip(&self.places);
        places.filter(|(_, place)| matches!(place, PagePlace::At { .. })).map(|(page, _)| page)
    }
}
