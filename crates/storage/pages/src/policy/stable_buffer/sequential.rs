//! Runs of consecutive addresses.

use super::{Candidate, Decompositor, places};
use crate::WriteCosts;

pub(super) struct Sequential;

impl Decompositor for Sequential {
    fn place(&self) -> usize {
        0
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.sequential_ns
    }

    fn find(&self, addresses: &[u64]) -> Vec<Candidate> {
        runs(addresses).map(|run| Candidate { ranges: [run].into_iter().collect() }).collect()
    }
}

/// Index ranges of all runs of at least two.
pub(super) fn runs(addresses: &[u64]) -> impl Iterator<Item = std::ops::Range<usize>> {
    places(addresses.chunk_by(|one, next| one + 1 == *next)).filter(|run| run.len() >= 2)
}
