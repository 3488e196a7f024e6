use std::collections::BTreeMap;
use std::ops::Range;

use crate::PageNumber;

/// Set of page numbers, stored as ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSet {
    /// First page of each range, and the page behind its last. Ranges never touch.
    ranges: BTreeMap<u64, u64>,
    pages: u64,
}

impl PageSet {
    /// All pages of a range.
    pub fn of(range: Range<u64>) -> Self {
        let pages = range.end.saturating_sub(range.start);
        let ranges = (pages > 0).then_some((range.start, range.end));
        Self { ranges: ranges.into_iter().collect(), pages }
    }

    /// Adds a page.
    pub fn insert(&mut self, page: PageNumber) {
        if self.contains(page) {
            return;
        }
        self.pages += 1;
        let end = self.ranges.remove(&(page.0 + 1)).unwrap_or(page.0 + 1);
        match self.ranges.range_mut(..=page.0).next_back() {
            Some((_, before)) if *before == page.0 => *before = end,
            _ => {
                self.ranges.insert(page.0, end);
            }
        }
        debug_assert!(self.contains(page), "{page} was added");
    }

    /// Removes a page.
    pub fn remove(&mut self, page: PageNumber) {
        let Some((&start, &end)) = self.ranges.range(..=page.0).next_back() else { return };
        if page.0 >= end {
            return;
        }
        self.pages -= 1;
        self.ranges.remove(&start);
        if start < page.0 {
            self.ranges.insert(start, page.0);
        }
        if page.0 + 1 < end {
            self.ranges.insert(page.0 + 1, end);
        }
        debug_assert!(!self.contains(page), "{page} was removed");
    }

    /// Removes a page, and decrements the numbers of all later ones.
    pub(super) fn cut(&mut self, page: PageNumber) {
        self.remove(page);
        let behind = self.ranges.split_off(&page.0);
        for (start, end) in behind {
            // A range that ended at the page is merged with the next.
            match self.ranges.range_mut(..start).next_back() {
                Some((_, before)) if *before + 1 == start => *before = end - 1,
                _ => _ = self.ranges.insert(start - 1, end - 1),
            }
        }
    }

    /// Returns true if the set contains a page.
    pub fn contains(&self, page: PageNumber) -> bool {
        self.ranges.range(..=page.0).next_back().is_some_and(|(_, end)| page.0 < *end)
    }

    /// Number of pages.
    pub fn len(&self) -> u64 {
        self.pages
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Ranges in ascending order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.ranges.iter().map(|(start, end)| *start..*end)
    }

    /// Pages in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = PageNumber> {
        self.ranges().flatten().map(PageNumber)
    }

    /// Adds all pages of another set.
    pub fn extend(&mut self, other: &Self) {
        other.ranges().for_each(|range| self.insert_range(range));
    }

    fn insert_range(&mut self, Range { mut start, mut end }: Range<u64>) {
        // All ranges that it touches are merged with it.
        let touching = self.ranges.range(..=end).rev().take_while(|(_, other_end)| **other_end >= start);
        for (other, other_end) in touching.map(|(other, end)| (*other, *end)).collect::<Vec<_>>() {
            self.ranges.remove(&other);
            self.pages -= other_end - other;
            (start, end) = (start.min(other), end.max(other_end));
        }
        self.ranges.insert(start, end);
        self.pages += end - start;
    }
}

impl FromIterator<PageNumber> for PageSet {
    fn from_iter<I: IntoIterator<Item = PageNumber>>(pages: I) -> Self {
        let mut set = Self::default();
        pages.into_iter().for_each(|page| set.insert(page));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_a_page_that_is_cut_moves_up() {
        let cut = |pages: &[u64], at| {
            let mut set: PageSet = pages.iter().copied().map(PageNumber).collect();
            set.cut(PageNumber(at));
            let expected: Vec<_> =
                pages.iter().filter(|page| **page != at).map(|page| page - u64::from(*page > at)).collect();
            assert_eq!(set.iter().map(|page| page.0).collect::<Vec<_>>(), expected, "{pages:?} without {at}");
            let again: PageSet = expected.into_iter().map(PageNumber).collect();
            assert_eq!(set, again, "{pages:?} without {at}");
        };
        for at in 0..10 {
            cut(&[], at);
            cut(&[5], at);
            cut(&[3, 4, 5], at);
            cut(&[0, 2, 4, 5, 7, 9], at);
        }
    }

    #[test]
    fn ranges_are_added_as_their_pages_are() {
        let all = [0..0, 0..3, 2..5, 5..6, 7..9, 6..7, 4..12, 11..20, 15..16, 3..4];
        for (first, second, third) in triples_of(&all) {
            let (mut by_ranges, mut by_pages) = (PageSet::default(), PageSet::default());
            for range in [first, second, third] {
                by_ranges.extend(&PageSet::of(range.clone()));
                range.map(PageNumber).for_each(|page| by_pages.insert(page));
            }
            assert_eq!(by_ranges, by_pages);
        }
    }

    fn triples_of(all: &[Range<u64>]) -> Vec<(Range<u64>, Range<u64>, Range<u64>)> {
        let pairs = all.iter().flat_map(|first| all.iter().map(move |second| (first, second)));
        let triples = pairs.flat_map(|(first, second)| all.iter().map(move |third| (first, second, third)));
        triples.map(|(first, second, third)| (first.clone(), second.clone(), third.clone())).collect()
    }

    #[test]
    fn neighbours_become_one_range() {
        let mut set: PageSet = [5, 3, 9, 4, 4].map(PageNumber).into_iter().collect();
        assert_eq!((set.ranges().collect::<Vec<_>>(), set.len()), (vec![3..6, 9..10], 4));
        set.remove(PageNumber(4));
        set.remove(PageNumber(7));
        assert_eq!((set.ranges().collect::<Vec<_>>(), set.len()), (vec![3..4, 5..6, 9..10], 3));
        assert!(set.contains(PageNumber(5)) && !set.contains(PageNumber(4)));
        assert_eq!(PageSet::of(2..2), PageSet::default());
    }
}
