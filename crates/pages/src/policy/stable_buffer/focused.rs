//! The most pages in two sibling buckets, each as wide as the focused area M.

use super::Decompositor;
use super::destinations::Destinations;
use crate::WriteCosts;

pub(super) struct Focused;

impl Decompositor for Focused {
    fn place(&self) -> usize {
        3
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.focused_ns
    }

    fn longest(&self, destinations: &Destinations, _costs: &WriteCosts) -> u64 {
        destinations.clusters.largest().map_or(0, |(count, _, _)| count)
    }

    /// Ascending: a drive that likes any order there likes this one too.
    fn pages(&self, destinations: &Destinations, _costs: &WriteCosts) -> Vec<u64> {
        let cluster = destinations.clusters.largest();
        cluster.map_or_else(Vec::new, |(_, start, end)| destinations.runs.numbers(start, end).collect())
    }
}
