//! Extents that an opening must find: those since the saved map that hold the newest durable
//! version of a page. The [ledger](super::ledger) stores their number and checksum, which detects
//! missing or older ones.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::header::Header;
use super::ledger::Seal;
use crate::PageNumber;

/// An extent with its pages.
#[derive(Debug)]
struct Sent {
    sequence: u64,
    seal: u32,
    pages: Vec<PageNumber>,
}

/// A needed extent.
#[derive(Debug)]
struct Needed {
    seal: u32,
    /// Number of pages whose newest durable version it holds; at least 1.
    newest: usize,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct NeededExtents {
    /// Extents that may be volatile, in the order of sequences.
    sent: VecDeque<Sent>,
    /// Last extent of each page.
    newest: FxHashMap<PageNumber, u64>,
    needed: BTreeMap<u64, Needed>,
}

impl NeededExtents {
    /// Records an extent, later than all before it.
    pub(super) fn sent(&mut self, header: &Header) {
        debug_assert!(self.sent.back().is_none_or(|last| last.sequence < header.sequence), "in order");
        let Header { sequence, seal, .. } = *header;
        self.sent.push_back(Sent { sequence, seal, pages: header.changed().collect() });
    }

    /// Records that all extents up to a sequence are durable.
    pub(super) fn durable(&mut self, durable: u64) {
        while let Some(sent) = self.sent.pop_front_if(|sent| sent.sequence <= durable) {
            for page in &sent.pages {
                if let Some(before) = self.newest.insert(*page, sent.sequence) {
                    self.replaced(before);
                }
            }
            let Sent { sequence, seal, pages } = sent;
            debug_assert!(!pages.is_empty(), "extent {sequence} tells of a page");
            self.needed.insert(sequence, Needed { seal, newest: pages.len() });
        }
    }

    fn replaced(&mut self, sequence: u64) {
        // Extents covered by the saved map are no longer counted.
        let Some(extent) = self.needed.get_mut(&sequence) else { return };
        debug_assert!(extent.newest > 0, "extent {sequence} is needed");
        extent.newest -= 1;
        if extent.newest == 0 {
            self.needed.remove(&sequence);
        }
    }

    /// Records a saved map that covers all extents up to a sequence.
    pub(super) fn saved(&mut self, saved: u64) {
        if self.needed.first_key_value().is_none_or(|(first, _)| *first > saved) {
            return;
        }
        self.needed = self.needed.split_off(&(saved + 1));
        self.newest.retain(|_, sequence| *sequence > saved);
        debug_assert!(
            self.newest.values().all(|sequence| self.needed.contains_key(sequence)),
            "an extent with the newest version of a page is needed"
        );
    }

    /// Number and checksum for a ledger.
    pub(super) fn seal(&self) -> Seal {
        debug_assert_eq!(
            self.needed.values().map(|extent| extent.newest).sum::<usize>(),
            self.newest.len(),
            "the newest version of a page is in one extent"
        );
        let mut seal = Seal::default();
        for (sequence, extent) in &self.needed {
            seal.add(*sequence, extent.seal);
        }
        seal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(sequence: u64, pages: &[u64]) -> Header {
        let discards = pages.iter().copied().map(PageNumber).collect();
        let seal = u32::try_from(sequence).unwrap() * 77;
        Header { sequence, durable: 0, position: 0, is_last: true, next: None, pages: vec![], discards, seal }
    }

    fn found(extents: &[Header], durable: u64) -> Seal {
        let mut needed = NeededExtents::default();
        for header in extents {
            needed.sent(header);
        }
        needed.durable(durable);
        needed.seal()
    }

    #[test]
    fn what_holds_nothing_newest_may_be_gone_and_nothing_else() {
        let all = [extent(1, &[1, 2]), extent(2, &[3]), extent(3, &[1, 3]), extent(4, &[2])];
        let without = |gone: u64| {
            let rest: Vec<_> = all.iter().filter(|header| header.sequence != gone).cloned().collect();
            found(&rest, 3)
        };
        assert_eq!(found(&all, 3), without(2), "3 has what 2 had");
        assert_eq!(found(&all, 3), without(4), "it isn't durable");
        assert_ne!(found(&all, 3), without(1), "it has page 2");
        assert_ne!(found(&all, 3), without(3));
    }

    #[test]
    fn what_the_map_covers_is_not_counted() {
        let all = [extent(1, &[1]), extent(2, &[2]), extent(3, &[3])];
        let mut needed = NeededExtents::default();
        for header in &all {
            needed.sent(header);
        }
        needed.durable(3);
        needed.saved(1);
        assert_eq!(needed.seal(), found(&all[1..], 3));
    }
}
