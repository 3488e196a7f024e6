//! Two or more runs of equal length, up to the number of streams that suits the drive.

use std::collections::BTreeMap;

use super::sequential::runs;
use super::{Candidate, Decompositor};
use crate::WriteCosts;

pub(super) struct Partitioned {
    pub(super) streams: usize,
}

impl Decompositor for Partitioned {
    fn place(&self) -> usize {
        1
    }

    fn page_ns(&self, costs: &WriteCosts) -> u64 {
        costs.partitioned_ns
    }

    /// Run by run: neighbours then share a request, which suits a drive at least as well as streams
    /// that alternate page by page.
    fn find(&self, addresses: &[u64]) -> Vec<Candidate> {
        debug_assert!(addresses.is_sorted(), "runs ascend");
        let mut by_length: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for run in runs(addresses) {
            by_length.entry(run.len()).or_default().push(run);
        }
        let groups = by_length.values().flat_map(|runs| runs.chunks(self.streams.max(2)));
        let several = groups.filter(|group| group.len() >= 2);
        several.map(|group| Candidate { ranges: group.iter().cloned().collect() }).collect()
    }
}
