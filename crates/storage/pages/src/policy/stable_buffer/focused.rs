//! Pages in two sibling buckets, each as wide as the focused area M.

use super::{Candidate, Decompositor, places};
use crate::WriteCosts;

pub(super) struct Focused {
    /// M in pages.
    pub(super) bucket_pages: u64,
}

impl Decompositor for Focused {
    fn place(&self) -> usize {
        3
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.focused_ns
    }

    /// Ascending order suits a drive that accepts any order.
    fn find(&self, addresses: &[u64]) -> Vec<Candidate> {
        debug_assert!(
            addresses.is_sorted(),
            "pages of one bucket are neighbours only if destinations ascend"
        );
        let bucket_of = |address: &u64| address / self.bucket_pages;
        let buckets: Vec<_> =
            places(addresses.chunk_by(|one, next| bucket_of(one) == bucket_of(next))).collect();
        let number = |place: usize| addresses.get(place).map(bucket_of);
        let with_sibling = (0..buckets.len()).filter_map(|at| {
            let bucket = buckets.get(at)?;
            let sibling = buckets.get(at + 1);
            let sibling = sibling.filter(|next| number(next.start) == number(bucket.start).map(|it| it + 1));
            Some(bucket.start..sibling.map_or(bucket.end, |sibling| sibling.end))
        });
        with_sibling.map(|range| Candidate { ranges: std::iter::once(range).collect() }).collect()
    }
}
