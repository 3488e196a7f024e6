//! A ring written front to back, and a sweep that empties it.
//!
//! StableBuffer's area must be small, because random writes are cheap only in small areas. A
//! sequential stream may have any length. Pages are therefore staged in a ring of any size. The
//! ring advances as its oldest pages are destaged. With each page all others staged for the same
//! mapping unit are destaged too, so that the drive merges or cleans the unit once. A step of the
//! sweep visits its units in the order of their destinations.
//!
//! The sweep selects by age rather than cycling over the destinations. With λ pages per unit in the
//! time that the ring takes to fill (Poisson), a cycle finds λ / (1 - e^-λ) pages in a visited
//! unit. Selection by age finds 1 + λ, because it waits as long as possible. A frequently rewritten
//! page also stays.
//!
//! After a power cut every acknowledged batch is present, and of the others a prefix of whole
//! batches. A batch is destaged once it is durable in the ring, and the ring never passes live
//! slots.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Descriptor, Layout, Promises, open_staging};
use crate::label::Label;
use crate::staging::{Instance, Order, Placement, StagingConfig, Thresholds};
use crate::{OpenOptions, PageNumber};

/// Fraction of the staged pages in a step of the sweep.
const STEPS: usize = 32;
/// Minimum pages per step, enough to keep a deep queue busy.
const STEP_PAGES_MIN: usize = 32;
/// Maximum pages per step, so that no call waits long.
const STEP_PAGES_MAX: usize = 1024;

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

/// Staged pages by age and by mapping unit.
#[derive(Debug, Default)]
struct Sweep {
    /// Every added page with its stamp. Only the newest stamp of a page counts.
    by_age: VecDeque<(PageNumber, u64)>,
    stamps: FxHashMap<PageNumber, u64>,
    by_unit: FxHashMap<u64, Vec<PageNumber>>,
    last_stamp: u64,
    unit_pages: u64,
    /// First page on the device, so that units match those of the drive.
    first_page_address: u64,
}

impl Sweep {
    fn unit_of(&self, page: PageNumber) -> u64 {
        (page.0 + self.first_page_address) / self.unit_pages
    }

    /// Page staged for the longest time.
    fn oldest(&mut self) -> Option<PageNumber> {
        loop {
            let (page, stamp) = *self.by_age.front()?;
            if self.stamps.get(&page) == Some(&stamp) {
                return Some(page);
            }
            self.by_age.pop_front();
        }
    }

    /// Takes up to `most` pages of a unit, in ascending order.
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
