use crate::PageNumber;

/// Where the newest version of each page is.
#[derive(Debug)]
pub(super) struct Map {
    places: Vec<Place>,
}

/// What became of a page last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// It was never written.
    #[default]
    Nowhere,
    /// Its contents begin at that block of the area.
    At { block: u64, sum: u32, sequence: u64 },
    /// It was discarded; the header that says so is at that block.
    Discarded { block: u64, sequence: u64 },
}

impl Place {
    /// The block that keeps it, and the sequence of its extent.
    pub(super) fn kept(self) -> Option<(u64, u64)> {
        match self {
            Self::Nowhere => None,
            Self::At { block, sequence, .. } | Self::Discarded { block, sequence } => Some((block, sequence)),
        }
    }
}

impl Map {
    pub(super) fn new(pages: u64) -> Self {
        Self { places: vec![Place::default(); usize::try_from(pages).unwrap_or(usize::MAX)] }
    }

    pub(super) fn get(&self, page: PageNumber) -> Place {
        usize::try_from(page.0).ok().and_then(|place| self.places.get(place)).copied().unwrap_or_default()
    }

    /// Enters a place; returns the one before.
    pub(super) fn put(&mut self, page: PageNumber, place: Place) -> Place {
        let entry = usize::try_from(page.0).ok().and_then(|place| self.places.get_mut(place));
        entry.map_or(Place::Nowhere, |entry| std::mem::replace(entry, place))
    }

    /// Pages with contents.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        let places = (0..).map(PageNumber).zip(&self.places);
        places.filter(|(_, place)| matches!(place, Place::At { .. })).map(|(page, _)| page)
    }
}
