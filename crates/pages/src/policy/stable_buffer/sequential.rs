//! The longest run of consecutive addresses.

use super::Decompositor;
use super::destinations::Destinations;
use crate::WriteCosts;

pub(super) struct Sequential;

impl Decompositor for Sequential {
    fn place(&self) -> usize {
        0
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.sequential_ns
    }

    fn longest(&self, destinations: &Destinations, _costs: &WriteCosts) -> u64 {
        destinations.runs.longest().map_or(0, |run| run.length)
    }

    fn pages(&self, destinations: &Destinations, _costs: &WriteCosts) -> Vec<u64> {
        let run = destinations.runs.longest();
        run.map_or_else(Vec::new, |run| (run.start..run.end()).collect())
    }
}
