//! Every page twice, and the second time at once: InnoDB's doublewrite buffer (files of `innodb_doublewrite_dir`), with
//! one flush a commit.
//!
//! What survives a power cut: every batch that was acknowledged, and of the others as a whole those before the first
//! that isn't whole. A batch goes to the staging area and is durable there after a flush; only then its pages are
//! written home, in the order of their arrival, from memory. The area is used again when a flush has covered home.

use std::collections::VecDeque;

use super::{Descriptor, Layout, Promises, open_staging};
use crate::PageNumber;
use crate::staging::{Instance, Order, Placement, StagingConfig, Thresholds};

/// What there is to know of it beforehand.
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

/// First come, first home.
#[derive(Debug, Default)]
struct Arrival {
    queue: VecDeque<PageNumber>,
}

impl Order for Arrival {
    fn added(&mut self, page: PageNumber) {
        self.queue.push_back(page);
    }

    fn removed(&mut self, _page: PageNumber) {
        // Whoever takes it looks into the table, where it isn't any more.
    }

    fn next(&mut self, most: usize) -> Option<Instance> {
        let mut pages: Vec<_> = self.queue.drain(..self.queue.len().min(most)).collect();
        // Neighbours of one batch may still go in one request.
        let mut seen = rustc_hash::FxHashSet::default();
        pages.retain(|page| seen.insert(*page));
        (!pages.is_empty()).then_some(Instance { pattern: None, pages })
    }
}
