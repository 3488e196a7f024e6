//! The longest subsequence of the ordered index with one constant distance.

use super::Decompositor;
use super::destinations::Destinations;
use crate::WriteCosts;
use crate::index::Stretch;

pub(super) struct Ordered;

impl Decompositor for Ordered {
    fn place(&self) -> usize {
        2
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.ordered_ns
    }

    fn longest(&self, destinations: &Destinations, _costs: &WriteCosts) -> u64 {
        destinations.stretches.longest().map_or(0, |stretch| stretch.steps + 1)
    }

    fn pages(&self, destinations: &Destinations, _costs: &WriteCosts) -> Vec<u64> {
        destinations.stretches.longest().map_or_else(Vec::new, |stretch| Stretch::numbers(stretch).collect())
    }
}
