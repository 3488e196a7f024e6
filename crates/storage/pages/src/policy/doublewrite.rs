//! Writes every page twice, the second time immediately, like InnoDB's doublewrite buffer (files of
//! `innodb_doublewrite_dir`), with one flush per commit.
//!
//! After a power cut every acknowledged batch is present, and of the others a prefix of whole
//! batches. A batch is written to the staging area, and is durable there after a flush. Its pages
//! are then written home from memory, in order of arrival. The area is reused once a flush has
//! covered the home writes.

use std::collections::VecDeque;

use super::{Descriptor, Layout, Promises, open_staging};
use crate::PageNumber;
use crate::staging::{Instance, Order, Placement, StagingConfig, Thresholds};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "doublewrite",
    description: "writes every page to a small area first, and home right after: InnoDB's way",
    code: 2,
    promises: Promises::ALL,
    layout: Layout::Staged { config: |_, _| config(), keeps_home_sums: true },
    open: open_staging,
};

fn config() -> StagingConfig {
    StagingConfig {
        placement: Placement::Ring,
        order: Box::new(Arrival::default()),
        keeps_memory: true,
        thresholds: Thresholds { starts_below: 1, ends_above: 1, reclaims_at: 2 },
    }
}

/// Destages pages in order of arrival.
#[derive(Debug, Default)]
struct Arrival {
    queue: VecDeque<PageNumber>,
}

impl Order for Arrival {
    fn added(&mut self, page: PageNumber) {
        self.queue.push_back(page);
    }

    fn removed(&mut self, _page: PageNumber) {
        // A removed page stays in the queue, as its later claim finds no table entry.
    }

    fn next(&mut self, most: usize) -> Option<Instance> {
        let mut pages: Vec<_> = self.queue.drain(..self.queue.len().min(most)).collect();
        // Neighbours in one batch may still share a request.
        let mut seen = rustc_hash::FxHashSet::default();
        pages.retain(|page| seen.insert(*page));
        (!pages.is_empty()).then_some(Instance { pattern: None, pages })
    }
}
