//! Search for the label when its place is unknown.

use std::collections::BTreeMap;

use super::{Copies, Label, places};
use crate::{BLOCK_BYTES, PageError};

/// Search that names the blocks to read and collects the labels found in them.
pub(crate) struct LabelSearch {
    /// Possible places of a copy, until the first is found.
    candidates: std::vec::IntoIter<u64>,
    /// Label or error at each place read.
    found: BTreeMap<u64, Result<Label, PageError>>,
    /// First label found.
    first: Option<Label>,
    /// Error of a label of an unknown version.
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

    /// Offset of the next block to read; `None` at the end.
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

    /// Enters a block, or the error of its read.
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

    /// Label of the store, with the state of its copies.
    ///
    /// # Errors
    /// There is no label, or only one of an unknown version.
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
    /// Returns the label if one of its copies belongs at this place. Pages may contain whole
    /// stores, whose labels then lie elsewhere.
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

    /// Result of a search of these copies.
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
