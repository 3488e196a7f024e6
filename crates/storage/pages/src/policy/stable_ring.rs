//! A ring that is written front to back, and a sweep that empties it.
//!
//! StableBuffer's area must be small, because random writing is cheap in small areas only. A sequential stream may be as
//! long as one likes. So pages are staged in a ring of any size. The oldest pages must go home for the ring to go on, and
//! with each goes everything else that is staged for the same mapping unit of the drive, so that the drive merges or
//! cleans the unit once for all of them; a step of the sweep goes through its units in the order of their destinations.
//!
//! Why by age and not round and round over the destinations: with λ pages for a unit in the time that the ring takes to
//! fill (Poisson), a round finds λ / (1 - e^-λ) of them in a unit that it visits, and this finds 1 + λ, because it
//! waits as long as it can. And a page that is written again and again stays.
//!
//! What survives a power cut: every batch that was acknowledged, and of the others as a whole those before the first
//! that isn't whole. A batch goes home when it is durable in the ring, and the ring never passes what is alive.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Descriptor, Layout, Promises, open_staging};
use crate::label::Label;
use crate::staging::{Instance, Order, Placement, StagingConfig, Thresholds};
use crate::{OpenOptions, PageNumber};

/// A step of the sweep takes 1/this of what is staged …
const STEPS: usize = 32;
/// … but so many pages, which is enough to keep a deep queue busy …
const STEP_PAGES_MIN: usize = 32;
/// … and not more than this, so that no call waits long.
const STEP_PAGES_MAX: usize = 1024;

/// What there is to know of it beforehand.
pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "stable-ring",
    description: "stages pages in a ring, and destages them by a sweep over their destinations",
    code: 4,
    promises: Promises::ALL,
    layout: Layout::Staged { config, keeps_home_sums: true },
    open: open_staging,
};

pub(super) fn config(label: &Label, options: &OpenOptions) -> StagingConfig {
    StagingConfig {
        placement: Placement::Ring,
        order: Box::new(Sweep {
            unit_pages: (options.costs.mapping_unit_bytes / label.page_bytes).max(1),
            first_page_address: label.home_offset / label.page_bytes,
            ..Sweep::default()
        }),
        keeps_memory: false,
        thresholds: Thresholds { starts_below: 16, ends_above: 12, reclaims_at: 16 },
    }
}

/// The staged pages by age and by mapping unit.
#[derive(Debug, Default)]
struct Sweep {
    /// Every page that was added, with the stamp that it got then; only the newest stamp of a page counts.
    by_age: VecDeque<(PageNumber, u64)>,
    stamps: FxHashMap<PageNumber, u64>,
    by_unit: FxHashMap<u64, Vec<PageNumber>>,
    last_stamp: u64,
    unit_pages: u64,
    /// Where the pages begin on the device, so that units are the drive's own.
    first_page_address: u64,
}

impl Sweep {
    fn unit_of(&self, page: PageNumber) -> u64 {
        (page.0 + self.first_page_address) / self.unit_pages
    }

    /// The page that has been staged longest.
    fn oldest(&mut self) -> Option<PageNumber> {
        loop {
            let (page, stamp) = *self.by_age.front()?;
            if self.stamps.get(&page) == Some(&stamp) {
                return Some(page);
            }
            self.by_age.pop_front();
        }
    }

    /// Takes the pages of a unit, at most so many: the first ones.
    fn take_unit(&mut self, unit: u64, most: usize) -> Vec<PageNumber> {
        let Some(mut pages) = self.by_unit.remove(&unit) else { return Vec::new() };
        pages.sort_unstable();
        if pages.len() > most {
            self.by_unit.insert(unit, pages.split_off(most));
        }
        for page in &pages {
            let stamp = self.stamps.remove(page);
            debug_assert!(stamp.is_some(), "{page} is in unit {unit}, and isn't staged");
        }
        debug_assert!(pages.iter().all(|page| self.unit_of(*page) == unit), "unit {unit} has {pages:?}");
        pages
    }
}

impl Order for Sweep {
    fn added(&mut self, page: PageNumber) {
        self.last_stamp += 1;
        self.by_age.push_back((page, self.last_stamp));
        if self.stamps.insert(page, self.last_stamp).is_none() {
            self.by_unit.entry(self.unit_of(page)).or_default().push(page);
        }
        debug_assert!(self.by_age.len() >= self.stamps.len(), "each staged page has an age");
    }

    fn removed(&mut self, page: PageNumber) {
        let unit = self.unit_of(page);
        if self.stamps.remove(&page).is_some()
            && let Some(pages) = self.by_unit.get_mut(&unit)
        {
            let before = pages.len();
            pages.retain(|other| *other != page);
            debug_assert_eq!(pages.len() + 1, before, "{page} is staged, so it is in its unit once");
        }
    }

    fn next(&mut self, most: usize) -> Option<Instance> {
        let step = (self.stamps.len() / STEPS).clamp(STEP_PAGES_MIN, STEP_PAGES_MAX).min(most);
        let mut pages = Vec::with_capacity(step);
        while pages.len() < step
            && let Some(oldest) = self.oldest()
        {
            pages.extend(self.take_unit(self.unit_of(oldest), most - pages.len()));
        }
        pages.sort_unstable();
        debug_assert!(pages.len() <= most, "{} pages, and {most} were asked for", pages.len());
        debug_assert!(pages.is_sorted_by(|one, next| one < next), "a page twice would be destaged twice");
        (!pages.is_empty()).then_some(Instance { pattern: None, pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(first_page_address: u64, pages: &[u64]) -> Sweep {
        let mut sweep = Sweep { unit_pages: 10, first_page_address, ..Sweep::default() };
        for page in pages {
            sweep.added(PageNumber(*page));
        }
        sweep
    }

    fn numbers(instance: Option<Instance>) -> Vec<u64> {
        instance.map_or_else(Vec::new, |instance| instance.pages.into_iter().map(|page| page.0).collect())
    }

    #[test]
    fn the_oldest_page_takes_its_whole_unit_along() {
        let mut sweep = sweep(0, &[45, 7, 100, 41, 3, 101]);
        assert_eq!(numbers(sweep.next(1)), [41], "no more than was asked for, in ascending order");
        assert_eq!(numbers(sweep.next(2)), [3, 45], "then the oldest's, and the first of the next unit");
        assert_eq!(numbers(sweep.next(100)), [7, 100, 101]);
        assert_eq!(sweep.next(1), None);
    }

    #[test]
    fn a_page_that_is_written_again_is_young_again() {
        let mut sweep = sweep(0, &[5, 15, 25]);
        sweep.added(PageNumber(5));
        sweep.removed(PageNumber(15));
        assert_eq!(numbers(sweep.next(1)), [25]);
        assert_eq!(numbers(sweep.next(9)), [5]);
    }

    #[test]
    fn units_are_the_drives_own() {
        let sweep = sweep(4, &[]);
        assert_eq!([5, 6, 15, 16].map(|page| sweep.unit_of(PageNumber(page))), [0, 1, 1, 2]);
    }
}
