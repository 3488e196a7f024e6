//! Which instance goes home: the one with the least T / L (the paper's selection). Fast patterns and long instances win;
//! short ones would look random from outside again.

use super::Decompositor;
use super::destinations::Destinations;
use super::focused::Focused;
use super::ordered::Ordered;
use super::partitioned::Partitioned;
use super::sequential::Sequential;
use crate::{OpenOptions, WriteCosts};

/// The decompositors that take part.
pub(super) struct Selection {
    decompositors: Vec<Box<dyn Decompositor>>,
}

impl Selection {
    pub(super) fn of(options: &OpenOptions) -> Self {
        let all: [Box<dyn Decompositor>; 4] =
            [Box::new(Sequential), Box::new(Partitioned), Box::new(Ordered), Box::new(Focused)];
        let taking_part = all.into_iter().zip(options.decompositors).filter(|(_, takes_part)| *takes_part);
        Self { decompositors: taking_part.map(|(decompositor, _)| decompositor).collect() }
    }

    /// The decompositor with the best instance.
    pub(super) fn best(&self, destinations: &Destinations, costs: &WriteCosts) -> Option<&dyn Decompositor> {
        let mut best: Option<(&dyn Decompositor, u64, u64)> = None;
        for decompositor in &self.decompositors {
            let (page_ns, length) = (decompositor.page_ns(costs), decompositor.longest(destinations, costs));
            let is_better = best
                .is_none_or(|(_, best_ns, best_length)| is_less((page_ns, length), (best_ns, best_length)));
            if length > 0 && is_better {
                best = Some((decompositor.as_ref(), page_ns, length));
            }
        }
        best.map(|(decompositor, _, _)| decompositor)
    }
}

/// Whether one T / L is less than another.
fn is_less((page_ns, length): (u64, u64), (other_ns, other_length): (u64, u64)) -> bool {
    u128::from(page_ns) * u128::from(other_length) < u128::from(other_ns) * u128::from(length)
}
