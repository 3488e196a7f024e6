//! A ring that is written front to back, and a sweep that empties it.
//!
//! StableBuffer's area must be small, because random writing is cheap in small areas only. A sequential stream may be as
//! long as one likes. So pages are staged in a ring of any size, and go home in the order of their destinations, one
//! mapping unit of the drive after the other, round and round: what a round finds in a unit goes there at once, so that
//! the drive merges or cleans the unit once for all of them. A round takes about as long as the ring takes to fill, so
//! slots die in about the order in which they were written.
//!
//! What survives a power cut: every batch that was acknowledged, and of the others as a whole those before the first
//! that isn't whole. A batch goes home when it is durable in the ring, and the ring never passes what is alive.

use std::collections::BTreeSet;

use crate::label::Label;
use crate::staging::{Draining, Instance, Order, Placement, Way};
use crate::{OpenOptions, PageNumber};

/// A step of the sweep takes units until it has so many pages: enough to keep a deep queue busy.
const STEP_PAGES: usize = 64;

pub(super) fn way(label: &Label, options: &OpenOptions) -> Way {
    let unit_pages = (options.costs.mapping_unit_bytes / label.page_bytes).max(1);
    Way {
        placement: Placement::Ring,
        order: Box::new(Sweep {
            unit_pages,
            first_page_offset: label.home_offset / label.page_bytes,
            ..Sweep::default()
        }),
        keeps_memory: false,
        draining: Draining { starts_below: 8, ends_above: 6, settles_at: 16 },
    }
}

/// Goes through the destinations in ascending order, and from the start again.
#[derive(Debug, Default)]
struct Sweep {
    pages: BTreeSet<PageNumber>,
    cursor: u64,
    unit_pages: u64,
    /// Where the pages begin on the device, so that units are the drive's own.
    first_page_offset: u64,
}

impl Sweep {
    /// The first page of the mapping unit behind the one of this page.
    fn unit_end(&self, page: PageNumber) -> u64 {
        let unit = (page.0 + self.first_page_offset) / self.unit_pages;
        ((unit + 1) * self.unit_pages).saturating_sub(self.first_page_offset)
    }

    fn first_from(&self, cursor: u64) -> Option<PageNumber> {
        self.pages.range(PageNumber(cursor)..).next().copied()
    }
}

impl Order for Sweep {
    fn added(&mut self, page: PageNumber) {
        self.pages.insert(page);
    }

    fn removed(&mut self, page: PageNumber) {
        self.pages.remove(&page);
    }

    fn next(&mut self) -> Option<Instance> {
        let mut pages = Vec::new();
        while pages.len() < STEP_PAGES {
            let ahead = self.first_from(self.cursor);
            // A round ends with its step, so that a step is in ascending order.
            let first = if pages.is_empty() { ahead.or_else(|| self.first_from(0)) } else { ahead };
            let Some(first) = first else { break };
            let end = self.unit_end(first);
            let unit: Vec<_> = self.pages.range(first..PageNumber(end)).copied().collect();
            unit.iter().for_each(|page| _ = self.pages.remove(page));
            pages.extend(unit);
            self.cursor = end;
        }
        (!pages.is_empty()).then_some(Instance { pattern: None, pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(first_page_offset: u64, pages: &[u64]) -> Sweep {
        let mut sweep = Sweep { unit_pages: 10, first_page_offset, ..Sweep::default() };
        pages.iter().for_each(|page| sweep.added(PageNumber(*page)));
        sweep
    }

    #[test]
    fn whole_units_in_ascending_order_round_and_round() {
        let many: Vec<u64> = (0..200).collect();
        let mut sweep = sweep(0, &many);
        let first = sweep.next().unwrap().pages;
        assert_eq!(
            first,
            (0..70).map(PageNumber).collect::<Vec<_>>(),
            "the unit in which the step gets full is whole"
        );
        sweep.added(PageNumber(5));
        assert_eq!(
            sweep.next().unwrap().pages.first(),
            Some(&PageNumber(70)),
            "what is behind waits for the next round"
        );
        sweep.next();
        assert_eq!(sweep.next().unwrap().pages, [PageNumber(5)]);
        assert_eq!(sweep.next(), None);
    }

    #[test]
    fn units_are_the_drives_own() {
        let mut sweep = sweep(4, &[0, 5, 6, 15]);
        sweep.unit_pages = 10;
        assert_eq!(sweep.unit_end(PageNumber(5)), 6);
        assert_eq!(sweep.unit_end(PageNumber(6)), 16);
    }
}
