//! Runs of equal length, of which there are two or more: as many streams as the drive likes to take turns.

use super::Decompositor;
use super::destinations::Destinations;
use crate::WriteCosts;
use crate::index::Run;

pub(super) struct Partitioned;

impl Partitioned {
    /// The length whose runs have the most pages together, and how many of them to take. A single page is no stream.
    fn best(destinations: &Destinations, costs: &WriteCosts) -> Option<(u64, u64)> {
        let groups =
            destinations.runs.lengths().map(|(length, count)| (length, count.min(costs.partitions.into())));
        groups
            .filter(|(length, count)| *length >= 2 && *count >= 2)
            .max_by_key(|(length, count)| length * count)
    }
}

impl Decompositor for Partitioned {
    fn place(&self) -> usize {
        1
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.partitioned_ns
    }

    fn longest(&self, destinations: &Destinations, costs: &WriteCosts) -> u64 {
        Self::best(destinations, costs).map_or(0, |(length, count)| length * count)
    }

    /// Run by run: the neighbours in a run then go in one request, which a drive likes at least as well as taking turns.
    fn pages(&self, destinations: &Destinations, costs: &WriteCosts) -> Vec<u64> {
        let Some((length, count)) = Self::best(destinations, costs) else { return Vec::new() };
        let runs = destinations.runs.of_length(length).take(usize::try_from(count).unwrap_or(usize::MAX));
        runs.flat_map(|run: Run| run.start..run.end()).collect()
    }
}
