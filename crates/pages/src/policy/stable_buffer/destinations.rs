//! The index that the decompositors share: the ordered index of the paper, and its hash of buckets.

use crate::PageNumber;
use crate::index::{Clusters, Run, Runs, Stretches};
use crate::label::Label;

/// Where the staged pages go, as addresses in pages from the start of the device, so that buckets are the drive's own.
#[derive(Debug)]
pub(super) struct Destinations {
    pub(super) runs: Runs,
    pub(super) stretches: Stretches,
    pub(super) clusters: Clusters,
    first_page_address: u64,
}

impl Destinations {
    /// With buckets of this width: the paper's M.
    pub(super) fn new(label: &Label, bucket_bytes: u64) -> Self {
        Self {
            runs: Runs::default(),
            stretches: Stretches::default(),
            clusters: Clusters::new(bucket_bytes / label.page_bytes),
            first_page_address: label.home_offset / label.page_bytes,
        }
    }

    fn address(&self, page: PageNumber) -> u64 {
        page.0 + self.first_page_address
    }

    pub(super) fn page_at(&self, address: u64) -> PageNumber {
        PageNumber(address.saturating_sub(self.first_page_address))
    }

    pub(super) fn add(&mut self, page: PageNumber) {
        let address = self.address(page);
        if self.runs.containing(address).is_none() {
            self.stretches.add(self.runs.before(address), address, self.runs.after(address));
            self.runs.add(Run { start: address, length: 1 });
            self.clusters.add(address);
        }
    }

    pub(super) fn remove(&mut self, page: PageNumber) {
        let address = self.address(page);
        if self.runs.containing(address).is_some() {
            self.runs.remove(Run { start: address, length: 1 });
            self.stretches.remove(self.runs.before(address), address, self.runs.after(address));
            self.clusters.remove(address);
        }
    }
}
