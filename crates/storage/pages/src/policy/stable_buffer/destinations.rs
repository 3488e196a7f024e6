//! Index shared by the decompositors: destinations of the staged pages in ascending order.
//!
//! Renewed once per round by merging new members, and a round hands out a sixteenth of it. The cost
//! per page is a few passes over sixteen neighbours in contiguous memory, independent of the number
//! of slots. That is cheaper than updating a tree per page.

use rustc_hash::FxHashSet;

use crate::PageNumber;
use crate::label::Label;
use crate::staging::Instance;

/// See the [module](self). Addresses are in pages from the start of the device, so that buckets
/// match those of the drive.
#[derive(Debug)]
pub(super) struct Destinations {
    /// Staged pages not handed out.
    members: FxHashSet<u64>,
    /// Members at the last renewal in ascending order, and true for each one handed out since.
    sorted: Vec<u64>,
    taken: Vec<bool>,
    /// Members added since.
    fresh: Vec<u64>,
    first_page_address: u64,
}

impl Destinations {
    pub(super) fn new(label: &Label) -> Self {
        Self {
            members: FxHashSet::default(),
            sorted: Vec::new(),
            taken: Vec::new(),
            fresh: Vec::new(),
            first_page_address: label.home_offset / label.page_bytes,
        }
    }

    pub(super) fn add(&mut self, page: PageNumber) {
        let address = page.0 + self.first_page_address;
        if self.members.insert(address) {
            self.fresh.push(address);
        }
    }

    pub(super) fn remove(&mut self, page: PageNumber) {
        self.members.remove(&(page.0 + self.first_page_address));
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Merges new members. Returns all in ascending order, none of them taken.
    pub(super) fn renew(&mut self) -> &[u64] {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        self.sorted.append(&mut fresh);
        #[allow(
            clippy::stable_sort_primitive,
            reason = "finds the two ascending sequences, and merges them"
        )]
        self.sorted.sort();
        self.sorted.dedup();
        let members = &self.members;
        self.sorted.retain(|address| members.contains(address));
        self.taken.clear();
        self.taken.resize(self.sorted.len(), false);
        debug_assert_eq!(
            self.sorted.len(),
            self.members.len(),
            "each member came once since the last renewal"
        );
        debug_assert!(self.sorted.is_sorted(), "the decompositors look for what ascends");
        &self.sorted
    }

    /// Returns true if the destination at this index can be taken.
    pub(super) fn is_free(&self, place: usize) -> bool {
        self.taken.get(place) == Some(&false)
    }

    /// Takes the first available destinations.
    pub(super) fn take_first(&mut self, most: usize) -> Option<Instance> {
        let pages: Vec<_> = (0..self.sorted.len()).filter_map(|place| self.take(place)).take(most).collect();
        (!pages.is_empty()).then_some(Instance { pattern: None, pages })
    }

    /// Takes the destination at this index.
    pub(super) fn take(&mut self, place: usize) -> Option<PageNumber> {
        let address = *self.sorted.get(place)?;
        debug_assert!(address >= self.first_page_address, "{address} lies before the pages");
        if std::mem::replace(self.taken.get_mut(place)?, true) || !self.members.remove(&address) {
            return None;
        }
        Some(PageNumber(address.saturating_sub(self.first_page_address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, PolicyKind};

    #[test]
    fn a_page_is_handed_out_once_for_each_time_it_is_staged() {
        let options = CreateOptions::new(PolicyKind::StableBuffer, 4096, 1 << 20);
        let mut destinations = Destinations::new(&Label::plan(&options, 4096, 8 << 20).unwrap());
        let first = destinations.first_page_address;
        for page in [9, 4, 7, 4] {
            destinations.add(PageNumber(page));
        }
        destinations.remove(PageNumber(7));
        assert_eq!(destinations.renew(), [first + 4, first + 9]);
        assert_eq!((destinations.take(0), destinations.take(0)), (Some(PageNumber(4)), None));
        destinations.add(PageNumber(4));
        destinations.add(PageNumber(5));
        assert_eq!(destinations.renew(), [first + 4, first + 5, first + 9]);
        destinations.remove(PageNumber(5));
        assert_eq!((destinations.take(1), destinations.len()), (None, 2));
    }
}
