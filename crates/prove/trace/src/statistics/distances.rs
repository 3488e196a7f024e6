use rustc_hash::FxHashMap;
use serde::Serialize;

use super::share;

/// Share of page writes that rewrite a recently written page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RewriteShare {
    /// Maximum distance to the previous write of the page, in page writes including the write
    /// itself.
    pub within_writes: u64,
    /// Share of all page writes.
    pub share: f64,
}

/// Distances between writes of the same page, in page writes.
#[derive(Default)]
pub(super) struct Distances {
    writes: u64,
    pages: FxHashMap<u64, Page>,
    /// Number of rewrites by the binary logarithm of the distance, rounded up.
    rewrites: Vec<u64>,
}

#[derive(Default)]
struct Page {
    last_write: u64,
    writes: u64,
}

impl Distances {
    pub(super) fn add(&mut self, page: u64) {
        self.writes += 1;
        let page = self.pages.entry(page).or_default();
        if page.writes > 0 {
            debug_assert!(page.last_write < self.writes, "a page is written once at a time");
            let distance = self.writes - page.last_write;
            let step = distance.next_power_of_two().trailing_zeros() as usize;
            self.rewrites.resize(self.rewrites.len().max(step + 1), 0);
            if let Some(count) = self.rewrites.get_mut(step) {
                *count += 1;
            }
        }
        page.last_write = self.writes;
        page.writes += 1;
    }

    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    pub(super) fn pages_distinct(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Number of writes of each page, in no particular order.
    pub(super) fn writes_by_page(&self) -> impl Iterator<Item = u64> + '_ {
        self.pages.values().map(|page| page.writes)
    }

    /// Shares for distances that are powers of two, up to the longest.
    pub(super) fn shares(&self) -> Vec<RewriteShare> {
        debug_assert_eq!(
            self.rewrites.iter().sum::<u64>() + self.pages_distinct(),
            self.writes,
            "a write is a page's first or a later one"
        );
        let mut so_far = 0;
        let steps = self.rewrites.iter().enumerate();
        let within = steps.map(|(step, count)| {
            so_far += count;
            RewriteShare { within_writes: 1 << step, share: share(so_far, self.writes) }
        });
        within.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrite_counts_from_its_distance_on() {
        let mut distances = Distances::default();
        for page in [1, 2, 3, 1, 1, 9] {
            distances.add(page);
        }
        let shares = distances.shares();
        let within = |writes| shares.iter().find(|share| share.within_writes == writes).unwrap().share;
        assert!((within(1) - 1.0 / 6.0).abs() < 1e-12, "the second 1 after the first in a row");
        assert!((within(2) - 1.0 / 6.0).abs() < 1e-12);
        assert!((within(4) - 2.0 / 6.0).abs() < 1e-12, "three writes back");
        assert_eq!((distances.writes(), distances.pages_distinct()), (6, 4));
    }
}
