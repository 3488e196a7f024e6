use crate::PageNumber;
use crate::size::to_usize;

/// Gaps in the running mean, as in `ZLeanStore`.
const GAPS_MAX: u32 = 8;

/// Expected times of the next write of each page, estimated as in `ZLeanStore` (arXiv 2603.09927)
/// from the last write and the mean of up to eight gaps before it. The unit of time is one page
/// write.
#[derive(Debug)]
pub(super) struct Lifetimes {
    now: u64,
    pages: Vec<Past>,
}

/// History of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// Time of its last write; 0 before the first.
    last: u64,
    /// Running mean of the gaps; exact for up to eight gaps.
    mean_gap: u64,
    gaps: u32,
}

impl Lifetimes {
    pub(super) fn new(pages: u64) -> Self {
        Self { now: 0, pages: vec![Past::default(); to_usize(pages)] }
    }

    /// Extends the number of pages to at least `pages`.
    pub(super) fn grow(&mut self, pages: u64) {
        let pages = to_usize(pages).max(self.pages.len());
        self.pages.resize(pages, Past::default());
    }

    /// Records a write of a page.
    pub(super) fn written(&mut self, page: PageNumber) {
        debug_assert!(page.0 < self.pages.len() as u64, "{page} of {}", self.pages.len());
        self.now += 1;
        let now = self.now;
        let Some(past) = self.pages.get_mut(to_usize(page.0)) else { return };
        if past.last > 0 {
            debug_assert!(past.last < now, "{page} was written before");
            let gap = now - past.last;
            past.gaps = (past.gaps + 1).min(GAPS_MAX);
            let mean = i128::from(past.mean_gap);
            let mean = mean + (i128::from(gap) - mean) / i128::from(past.gaps);
            past.mean_gap = u64::try_from(mean).unwrap_or(gap);
        }
        past.last = now;
    }

    /// Expected remaining life of a page: its mean gap, or the time since its last write if that is
    /// longer; `None` before its second write.
    pub(super) fn expected(&self, page: PageNumber) -> Option<u64> {
        debug_assert!(page.0 < self.pages.len() as u64, "{page} of {}", self.pages.len());
        let past = self.pages.get(to_usize(page.0))?;
        (past.gaps > 0).then(|| past.mean_gap.max(self.now - past.last))
    }

    /// Lifetime group of a page: by powers of two of its expected life. The last group holds pages
    /// that live twice as long as writing every page once takes, or whose life is unknown.
    pub(super) fn group(&self, page: PageNumber, groups: usize) -> usize {
        debug_assert!(groups > 0, "a page has a group");
        let coldest = groups.saturating_sub(1);
        let Some(expected) = self.expected(page) else { return coldest };
        let turns = 2 * self.pages.len() as u64 / expected.max(1);
        coldest.saturating_sub(turns.checked_ilog2().map_or(0, |log| log as usize + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_gap_is_followed_and_pages_left_alone_cool_down() {
        let mut lifetimes = Lifetimes::new(64);
        assert_eq!(lifetimes.expected(PageNumber(1)), None);
        for _ in 0..4 {
            lifetimes.written(PageNumber(1));
            lifetimes.written(PageNumber(2));
        }
        assert_eq!(lifetimes.expected(PageNumber(2)), Some(2));
        (0..40).for_each(|_| lifetimes.written(PageNumber(3)));
        assert_eq!(lifetimes.expected(PageNumber(3)), Some(1));
        assert_eq!(lifetimes.expected(PageNumber(2)), Some(40), "it should have been written long ago");
    }

    #[test]
    fn groups_go_from_short_lives_to_long_ones() {
        let mut lifetimes = Lifetimes::new(64);
        for round in 0..64 {
            lifetimes.written(PageNumber(0));
            if round % 32 == 0 {
                lifetimes.written(PageNumber(1));
            }
        }
        let groups: Vec<_> = (0..3).map(|page| lifetimes.group(PageNumber(page), 4)).collect();
        assert_eq!(groups[0], 0);
        assert!(groups[1] > 0 && groups[1] < 3, "{groups:?}");
        assert_eq!(groups[2], 3, "never written");
        assert_eq!(lifetimes.group(PageNumber(0), 1), 0);
    }
}
