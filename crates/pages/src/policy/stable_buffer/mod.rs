//! StableBuffer (Li, *Optimize write performance for DBMS on Solid State Drive*, 2010): a small area whose slots are
//! used again, and write stream decompositors that find, among the pages in it, those that can go home in a pattern
//! that the drive likes.
//!
//! The paper's parts, and what became of them: its *StableBuffer* and *translation table* are the staging area and its
//! table; its decompositors are [`sequential`], [`partitioned`], [`ordered`] and [`focused`], over the
//! [shared index](destinations) of all destinations; the [selection](select) takes the instance with the least
//! T / L; its concurrent threads are tasks. Beyond the paper: batches are atomic, slots are used again only when a
//! ledger says so, and of two slots with one destination the newer wins.
//!
//! What survives a power cut: every batch that was acknowledged, and of the others as a whole those before the first
//! that isn't whole.

mod destinations;
mod focused;
mod ordered;
mod partitioned;
mod select;
mod sequential;

use destinations::Destinations;
use select::Selection;

use crate::label::Label;
use crate::staging::{Draining, Instance, Order, Placement, Way};
use crate::{OpenOptions, PageNumber, WriteCosts};

pub(super) fn way(label: &Label, options: &OpenOptions) -> Way {
    let decomposition = Decomposition {
        destinations: Destinations::new(label, options.costs.focused_area_bytes),
        selection: Selection::of(options),
        costs: options.costs,
    };
    Way {
        placement: Placement::Slots,
        order: Box::new(decomposition),
        keeps_memory: false,
        draining: Draining { starts_below: 8, ends_above: 6, settles_at: 16 },
    }
}

/// A write stream decompositor: finds pages that make one pattern.
trait Decompositor {
    /// Its place in [`Stats::instances`](crate::Stats::instances).
    fn place(&self) -> usize;

    /// What a page costs in this pattern: T.
    fn page_ns(&self, costs: &WriteCosts) -> u64;

    /// Pages in the longest instance: L; 0 when there is none.
    fn longest(&self, destinations: &Destinations, costs: &WriteCosts) -> u64;

    /// That instance, in the order in which it shall be written.
    fn pages(&self, destinations: &Destinations, costs: &WriteCosts) -> Vec<u64>;
}

/// The order in which the decompositors send pages home.
struct Decomposition {
    destinations: Destinations,
    selection: Selection,
    costs: WriteCosts,
}

impl Order for Decomposition {
    fn added(&mut self, page: PageNumber) {
        self.destinations.add(page);
    }

    fn removed(&mut self, page: PageNumber) {
        self.destinations.remove(page);
    }

    fn next(&mut self, most: usize) -> Option<Instance> {
        let winner = self.selection.best(&self.destinations, &self.costs)?;
        let addresses = winner.pages(&self.destinations, &self.costs);
        let addresses = addresses.into_iter().take(most);
        let pages: Vec<_> = addresses.map(|address| self.destinations.page_at(address)).collect();
        for page in &pages {
            self.destinations.remove(*page);
        }
        Some(Instance { pattern: Some(winner.place()), pages })
    }
}
