//! Subsequences of the ordered index with a constant distance.

use super::{Candidate, Decompositor};
use crate::WriteCosts;

/// Minimum length, as any two pages have a constant distance.
const LEAST_PAGES: usize = 3;

pub(super) struct Ordered;

impl Decompositor for Ordered {
    fn place(&self) -> usize {
        2
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.ordered_ns
    }

    fn find(&self, addresses: &[u64]) -> Vec<Candidate> {
        let (mut found, mut start, mut distance) = (Vec::new(), 0, None);
        let mut keep = |start: usize, end: usize| {
            if end - start >= LEAST_PAGES {
                found.push(Candidate { ranges: std::iter::once(start..end).collect() });
            }
        };
        for (place, pair) in (1..).zip(addresses.windows(2)) {
            let &[one, next] = pair else { continue };
            debug_assert!(one < next, "destinations ascend: {one} before {next}");
            if distance.is_some_and(|distance| distance != next - one) {
                keep(start, place);
                start = place - 1;
            }
            distance = Some(next - one);
        }
        keep(start, addresses.len());
        found
    }
}
