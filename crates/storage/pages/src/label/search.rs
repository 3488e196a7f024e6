//! Finding the label: where none of the places is known that it may have.

use std::collections::BTreeMap;

use super::{Copies, Label, places};
use crate::{BLOCK_BYTES, PageError};

/// Says which blocks to read, one after the other, and takes what is in them.
pub(crate) struct LabelSearch {
    /// Places where a copy may be, until the first is found.
    candidates: std::vec::IntoIter<u64>,
    /// Label, or error, of each place that was read.
    found: BTreeMap<u64, Result<Label, PageError>>,
    /// The first that was found.
    first: Option<Label>,
    /// A label that this version can't read.
    unknown: Option<PageError>,
    capacity_bytes: u64,
}

impl LabelSearch {
    pub(crate) fn new(capacity_bytes: u64) -> Self {
        Self {
            candidates: places::candidates(capacity_bytes).into_iter(),
            found: BTreeMap::new(),
            first: None,
            unknown: None,
            capacity_bytes,
        }
    }

    /// The block to read next; `None`: everything was read.
    pub(crate) fn next_offset(&mut self) -> Option<u64> {
        match &self.first {
            Some(label) => label.label_places().find(|place| {
                !self.found.contains_key(place)
                    && place.saturating_add(BLOCK_BYTES as u64) <= self.capacity_bytes
            }),
            None if self.unknown.is_some() => None,
            None => self.candidates.next(),
        }
    }

    /// Takes a block, or why it can't be read.
    pub(crate) fn enter(&mut self, offset_bytes: u64, block: Result<&[u8], PageError>) {
        let label = block.and_then(Label::decode).and_then(|label| label.checked_at(offset_bytes));
        match &label {
            Ok(label) => {
                self.first.get_or_insert_with(|| label.clone());
            }
            Err(error @ (PageError::Version { .. } | PageError::Policy { .. })) => {
                self.unknown.get_or_insert_with(|| error.clone());
            }
            Err(_) => {}
        }
        self.found.insert(offset_bytes, label);
    }

    /// The label of the store, and what its copies say.
    ///
    /// # Errors
    /// There is none, or one that this version can't read.
    pub(crate) fn copies(mut self) -> Result<Copies, PageError> {
        let Some(first) = self.first else {
            let at_start = self.found.remove(&0).and_then(Result::err);
            let too_small = PageError::NotAStore { found: "it is smaller than a label" };
            return Err(self.unknown.or(at_start).unwrap_or(too_small));
        };
        let copies: Vec<_> = first.label_places().map(|place| self.found.remove(&place)).collect();
        Ok(Copies::of(&first, &copies))
    }
}

impl Label {
    /// Itself, if a copy of such a label lies there. Pages may hold whole stores, with labels elsewhere.
    fn checked_at(self, offset_bytes: u64) -> Result<Self, PageError> {
        if self.label_places().any(|place| place == offset_bytes) {
            Ok(self)
        } else {
            Err(PageError::NotAStore { found: "its label is one that belongs elsewhere" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, PolicyKind};

    const CAPACITY_BYTES: u64 = 1 << 30;

    fn label(pages: u64) -> Label {
        let options = CreateOptions::new(PolicyKind::Direct, 4096, pages);
        Label { id: 7, ..Label::plan(&options, 0, 0).unwrap() }
    }

    /// Labels that a search finds when these copies lie in their places.
    fn search(copies: &[(u64, &Label)]) -> Result<Label, PageError> {
        let mut search = LabelSearch::new(CAPACITY_BYTES);
        while let Some(offset_bytes) = search.next_offset() {
            let mut block = vec![0; BLOCK_BYTES];
            if let Some((_, label)) = copies.iter().find(|(place, _)| *place == offset_bytes) {
                label.encode(&mut block);
            }
            search.enter(offset_bytes, Ok(&block));
        }
        search.copies().map(|copies| copies.label)
    }

    #[test]
    fn any_copy_is_enough() {
        for label in [label(100), label(1 << 18)] {
            for place in label.label_places() {
                assert_eq!(search(&[(place, &label)]), Ok(label.clone()), "{place}");
            }
        }
    }

    #[test]
    fn labels_of_earlier_versions_lie_in_the_first_two_blocks() {
        let earlier = Label { version: 4, slot_bytes: 0, ..label(100) };
        for place in [0, 4096] {
            assert_eq!(search(&[(place, &earlier)]), Ok(earlier.clone()));
        }
        assert!(search(&[(64 << 10, &earlier)]).is_err());
    }

    #[test]
    fn a_label_in_a_place_that_it_does_not_describe_is_none() {
        let label = label(100);
        assert!(search(&[(4096, &label)]).is_err());
        assert!(search(&[(1 << 20, &label)]).is_err());
    }

    #[test]
    fn the_newest_of_the_copies_counts() {
        let (old, new) = (label(100), label(200));
        assert_eq!(search(&[(0, &old), (3 * old.slot_bytes, &new)]), Ok(new));
    }
}
