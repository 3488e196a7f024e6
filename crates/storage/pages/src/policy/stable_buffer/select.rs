//! Selection of the instance with the least T / L, as in the paper. It favours fast patterns and
//! long instances, as short ones would look random to the drive.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::destinations::Destinations;
use super::{Candidate, Decompositor};
use crate::WriteCosts;
use crate::staging::Instance;

/// Instances of a round, best first.
#[derive(Default)]
pub(super) struct Selection {
    candidates: BinaryHeap<Reverse<Ranked>>,
}

/// An instance with its T and L.
struct Ranked {
    page_ns: u64,
    length: usize,
    pattern: usize,
    candidate: Candidate,
}

impl Selection {
    /// Collects the instances of all decompositors.
    pub(super) fn of(decompositors: &[Box<dyn Decompositor>], addresses: &[u64], costs: &WriteCosts) -> Self {
        let mut candidates = Vec::new();
        for decompositor in decompositors {
            let (page_ns, pattern) = (decompositor.page_ns(costs), decompositor.place());
            candidates.extend(decompositor.find(addresses).into_iter().map(|candidate| {
                Reverse(Ranked { page_ns, length: candidate.places().count(), pattern, candidate })
            }));
        }
        Self { candidates: candidates.into() }
    }

    /// Takes the best instance, up to `most` of its pages. An instance that has lost pages to
    /// others is ranked again by its remaining ones.
    pub(super) fn take(&mut self, destinations: &mut Destinations, most: usize) -> Option<Instance> {
        while let Some(Reverse(mut best)) = self.candidates.pop() {
            let left = best.candidate.places().filter(|place| destinations.is_free(*place)).count();
            debug_assert!(left <= best.length, "{left} of {} are free: none is given back", best.length);
            if left < best.length {
                best.length = left;
                if left > 0 {
                    self.candidates.push(Reverse(best));
                }
                continue;
            }
            let free = best.candidate.places().filter(|place| destinations.is_free(*place));
            let places: Vec<usize> = free.take(most).collect();
            debug_assert!(places.len() <= most, "{} places, and {most} were asked for", places.len());
            let pages: Vec<_> = places.into_iter().filter_map(|place| destinations.take(place)).collect();
            let pattern = Some(best.pattern);
            self.candidates.push(Reverse(best));
            if !pages.is_empty() {
                return Some(Instance { pattern, pages });
            }
        }
        None
    }
}

impl Ord for Ranked {
    /// Compares T / L without division, then pattern and index, so that runs are reproducible.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, others) = (
            u128::from(self.page_ns) * other.length as u128,
            u128::from(other.page_ns) * self.length as u128,
        );
        let key = |it: &Self| (it.pattern, it.candidate.places().next());
        mine.cmp(&others).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}
