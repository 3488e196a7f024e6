use std::ops::Range;

/// Where a trace's addresses come to lie in the stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The areas that are written lie side by side, in the order of their addresses, and what lies between them is left out.
    /// Inside an area all distances stay, so pages that share an area go on sharing one, and no others begin to.
    Compact {
        /// Bytes of an area, which begins at a multiple of this: what the drive maps or cleans as one.
        area_bytes: u64,
    },
    /// Where the trace has them.
    Keep,
}

/// Runs of areas that are written, side by side. Takes 24 bytes a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compaction {
    area_pages: u64,
    /// In ascending order; between any two there is an area that nothing is written to.
    runs: Vec<Run>,
}

/// Areas without a gap between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first_page: u64,
    end_page: u64,
    /// Pages of all runs before.
    pages_before: u64,
}

impl Compaction {
    /// Of all ranges of pages that are written, in any order.
    pub(crate) fn of(written: impl Iterator<Item = Range<u64>>, area_pages: u64) -> Self {
        debug_assert!(area_pages > 0, "an area has pages");
        let areas = |pages: Range<u64>| pages.start / area_pages..pages.end.div_ceil(area_pages);
        let mut ranges: Vec<_> = written.filter(|pages| !pages.is_empty()).map(areas).collect();
        ranges.sort_unstable_by_key(|areas| areas.start);
        ranges.dedup();
        let mut runs: Vec<Run> = Vec::new();
        for areas in ranges {
            let (first_page, end_page) =
                (areas.start.saturating_mul(area_pages), areas.end.saturating_mul(area_pages));
            let pages_before = runs.last().map_or(0, |run| run.pages_before + run.pages());
            match runs.last_mut() {
                Some(last) if first_page <= last.end_page => last.end_page = last.end_page.max(end_page),
                _ => runs.push(Run { first_page, end_page, pages_before }),
            }
        }
        Self { area_pages, runs }
    }

    /// Where a page comes to lie; of one in an area that is left out, where the next area does.
    pub(crate) fn place(&self, page: u64) -> u64 {
        let after = self.runs.partition_point(|run| run.first_page <= page);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        run.map_or(0, |run| run.pages_before + page.min(run.end_page) - run.first_page)
    }

    /// How many areas are written to.
    pub(crate) fn areas(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.pages_before + run.pages()) / self.area_pages
    }

    /// Pages that lie before the first area or between areas.
    pub(crate) fn left_out_pages(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.first_page - run.pages_before)
    }
}

impl Run {
    fn pages(self) -> u64 {
        self.end_page - self.first_page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_lie_side_by_side_and_keep_their_insides() {
        let compaction = Compaction::of([1000..1001, 7..8, 1003..1004, 509..520, 7..8].into_iter(), 256);
        // Areas 0, 1 and 2 follow each other, and so does 3.
        let places = [7, 8, 509, 519, 1000, 1003].map(|page| compaction.place(page));
        assert_eq!(places, [7, 8, 509, 519, 1000, 1003]);
        assert_eq!((compaction.areas(), compaction.left_out_pages()), (4, 0));
        let far = Compaction::of([1 << 40..(1 << 40) + 300, 5 << 40..(5 << 40) + 1].into_iter(), 256);
        let places = [0, 1 << 40, (1 << 40) + 511, (1 << 40) + 512, 3 << 40, 5 << 40, (5 << 40) + 9];
        assert_eq!(places.map(|page| far.place(page)), [0, 0, 511, 512, 512, 512, 521]);
        assert_eq!((far.areas(), far.left_out_pages()), (3, (5 << 40) - 512));
    }

    #[test]
    fn places_keep_the_order_and_no_two_written_pages_share_one() {
        // Whatever the areas are: pages of a sequence that repeats itself nowhere.
        let pages: Vec<u64> = (0..500_u64).map(|n| n * n * n * 7919 % 1_000_003).collect();
        for area_pages in [1, 3, 256] {
            let compaction = Compaction::of(pages.iter().map(|page| *page..page + 1), area_pages);
            let mut sorted = pages.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let places: Vec<_> = sorted.iter().map(|page| compaction.place(*page)).collect();
            assert!(places.is_sorted_by(|a, b| a < b), "areas of {area_pages}");
            assert!(places.iter().all(|place| *place < compaction.areas() * area_pages));
        }
    }

    #[test]
    fn nothing_written_is_nothing() {
        let nothing = Compaction::of(std::iter::empty(), 256);
        assert_eq!((nothing.place(99), nothing.areas(), nothing.left_out_pages()), (0, 0, 0));
    }
}
