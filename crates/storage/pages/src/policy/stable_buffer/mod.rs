//! StableBuffer (Li, *Optimize write performance for DBMS on Solid State Drive*, 2010): a small
//! area with reusable slots, and write stream decompositors that select staged pages in patterns
//! that suit the drive.
//!
//! Correspondence with the paper: its *StableBuffer* and *translation table* are the staging area
//! and its table; its decompositors are [`sequential`], [`partitioned`], [`ordered`] and
//! [`focused`], over a [shared index](destinations) of all destinations; the [selection](select)
//! takes the instance with the least T / L; its concurrent threads are tasks. Additions: batches
//! are atomic, slots are reused only after a ledger permits it, and the newer of two slots with one
//! destination wins.
//!
//! After a power cut every acknowledged batch is present, and of the others a prefix of whole
//! batches.

mod destinations;
mod focused;
mod ordered;
mod partitioned;
mod select;
mod sequential;

use std::ops::Range;

use destinations::Destinations;
use focused::Focused;
use ordered::Ordered;
use partitioned::Partitioned;
use select::Selection;
use sequential::Sequential;
use smallvec::SmallVec;

use super::{Descriptor, Layout, Promises, open_staging};
use crate::label::Label;
use crate::staging::{Instance, Order, Placement, StagingConfig, Thresholds};
use crate::{OpenOptions, PageNumber, WriteCosts};

/// The index is renewed and searched again after 1/`ROUNDS` of it was handed out.
const ROUNDS: usize = 16;
/// Pages destaged together when no decompositor finds an instance.
const UNPATTERNED_PAGES: usize = 64;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "stable-buffer",
    description: "stages pages in an area whose slots are used again, and destages them by the patterns that it finds",
    code: 3,
    promises: Promises::ALL,
    layout: Layout::Staged { config, keeps_home_sums: true },
    open: open_staging,
};

fn config(label: &Label, options: &OpenOptions) -> StagingConfig {
    let costs = options.costs;
    let all: [Box<dyn Decompositor>; 4] = [
        Box::new(Sequential),
        Box::new(Partitioned { streams: usize::try_from(costs.partitions).unwrap_or(usize::MAX) }),
        Box::new(Ordered),
        Box::new(Focused { bucket_pages: (costs.focused_area_bytes / label.page_bytes).max(1) }),
    ];
    let taking_part =
        all.into_iter().zip(options.experiments.decompositors).filter(|(_, takes_part)| *takes_part);
    let decomposition = Decomposition {
        destinations: Destinations::new(label),
        decompositors: taking_part.map(|(decompositor, _)| decompositor).collect(),
        selection: Selection::default(),
        left_in_round: 0,
        costs,
    };
    StagingConfig {
        placement: Placement::Slots,
        order: Box::new(decomposition),
        keeps_memory: false,
        thresholds: Thresholds { starts_below: 8, ends_above: 4, reclaims_at: 16 },
    }
}

/// Write stream decompositor: finds pages that form a pattern.
trait Decompositor {
    /// Index in [`Stats::instances`](crate::Stats::instances).
    fn place(&self) -> usize;

    /// Cost of a page in this pattern: T.
    fn page_ns(&self, costs: &WriteCosts) -> u64;

    /// All instances among these destinations, which are in ascending order.
    fn find(&self, addresses: &[u64]) -> Vec<Candidate>;
}

/// An instance of a pattern: index ranges of destinations, in write order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    ranges: SmallVec<[Range<usize>; 1]>,
}

impl Candidate {
    fn places(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().cloned().flatten()
    }
}

/// Index ranges of adjacent pieces.
fn places<'a>(pieces: impl Iterator<Item = &'a [u64]>) -> impl Iterator<Item = Range<usize>> {
    pieces.scan(0, |start, piece| {
        let range = *start..*start + piece.len();
        *start = range.end;
        Some(range)
    })
}

/// Destaging order by decompositors.
struct Decomposition {
    destinations: Destinations,
    decompositors: Vec<Box<dyn Decompositor>>,
    selection: Selection,
    /// Pages that may be handed out before the next renewal.
    left_in_round: usize,
    costs: WriteCosts,
}

impl Decomposition {
    fn begin_round(&mut self) {
        self.left_in_round = self.destinations.len().div_ceil(ROUNDS);
        let addresses = self.destinations.renew();
        self.selection = Selection::of(&self.decompositors, addresses, &self.costs);
    }
}

impl Order for Decomposition {
    fn added(&mut self, page: PageNumber) {
        self.destinations.add(page);
    }

    fn removed(&mut self, page: PageNumber) {
        self.destinations.remove(page);
    }

    fn next(&mut self, most: usize) -> Option<Instance> {
        let mut found = None;
        if self.left_in_round > 0 {
            found = self.selection.take(&mut self.destinations, most);
        }
        if found.is_none() {
            self.begin_round();
            found = self.selection.take(&mut self.destinations, most);
        }
        // Without the focused decompositor some pages match no pattern, and must be destaged
        // anyway.
        let found = found.or_else(|| self.destinations.take_first(most.min(UNPATTERNED_PAGES)));
        let pages = found.as_ref().map_or(0, |instance| instance.pages.len());
        debug_assert!(pages <= most, "{pages} pages, and {most} were asked for");
        debug_assert!(
            found.is_some() || most == 0 || self.destinations.len() == 0,
            "{} pages are staged, and none is handed out",
            self.destinations.len()
        );
        self.left_in_round = self.left_in_round.saturating_sub(pages);
        found
    }
}

#[cfg(test)]
mod tests;
