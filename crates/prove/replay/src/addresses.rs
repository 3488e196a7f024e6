use std::ops::Range;

/// Mapping of a trace's addresses to stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// Places the written areas side by side, in address order, and omits the gaps between them.
    /// Distances within an area are kept, so pages share an area exactly if they did so in the
    /// trace.
    Compact {
        /// Length and alignment of an area in bytes: the unit that the drive maps or cleans.
        area_bytes: u64,
    },
    /// Keeps the trace's addresses.
    Keep,
}

/// Compacted runs of written areas, side by side. Takes 24 bytes per run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compaction {
    area_pages: u64,
    /// Runs in ascending order. At least one unwritten area separates two runs.
    runs: Vec<Run>,
}

/// Contiguous areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first_page: u64,
    end_page: u64,
    /// Pages of all earlier runs.
    pages_before: u64,
}

impl Compaction {
    /// Compacts ranges of written pages, given in any order.
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

    /// Returns the compacted position of a page. A page in an omitted area maps to the start of the
    /// next area.
    pub(crate) fn place(&self, page: u64) -> u64 {
        let after = self.runs.partition_point(|run| run.first_page <= page);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        run.map_or(0, |run| run.pages_before + page.min(run.end_page) - run.first_page)
    }

    /// Number of written areas.
    pub(crate) fn areas(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.pages_before + run.pages()) / self.area_pages
    }

    /// Pages before the first area and between areas.
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
    fn areas_are_adjacent_and_keep_their_contents() {
        let compaction = Compaction::of([1000..1001, 7..8, 1003..1004, 509..520, 7..8].into_iter(), 256);
        // Areas 0 to 3 are adjacent.
        let places = [7, 8, 509, 519, 1000, 1003].map(|page| compaction.place(page));
        assert_eq!(places, [7, 8, 509, 519, 1000, 1003]);
        assert_eq!((compaction.areas(), compaction.left_out_pages()), (4, 0));
        let far = Compaction::of([1 << 40..(1 << 40) + 300, 5 << 40..(5 << 40) + 1].into_iter(), 256);
        let places = [0, 1 << 40, (1 << 40) + 511, (1 << 40) + 512, 3 << 40, 5 << 40, (5 << 40) + 9];
        assert_eq!(places.map(|page| far.place(page)), [0, 0, 511, 512, 512, 512, 521]);
        assert_eq!((far.areas(), far.left_out_pages()), (3, (5 << 40) - 512));
    }

    #[test]
    fn compaction_keeps_order_and_distinctness() {
        // Pages of a sequence without repetition.
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
    fn compaction_without_writes_is_empty() {
        let nothing = Compaction::of(std::iter::empty(), 256);
        assert_eq!((nothing.place(99), nothing.areas(), nothing.left_out_pages()), (0, 0, 0));
    }
}
