//! Writes of an opening before clients may write: everything that may not be durable, once more. The staging policies'
//! [renewal](crate::staging) has the reason.
//!
//! The groups behind the last one of which something later says that it is durable are read, and written to the zones that
//! are always kept free for it. Then come a flush, and a ledger by which the new extents count and the old ones don't. Before
//! that ledger is durable the old ones count.
//!
//! The ledger names a saved map: what it covers counts, and what lies beyond the end of the chain doesn't, so nothing need be
//! wiped.
//!
//! Where too few zones are free after that, the store stays closed until cleaning has made them free: should the power be cut
//! meanwhile, what was moved is still where it was, and nothing was acknowledged, so it needn't be written once more.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::ZoneEngine;
use super::clean::{self, Stored};
use super::header::Header;
use super::ledger::{Ledger, MapAt};
use super::map::PagePlace;
use super::write::Spared;
use crate::defects::Defect;
use crate::{PageError, PageNumber};

/// Begins an opening that writes.
pub(super) async fn begin(shared: &Rc<ZoneEngine>, tail: &[Header]) -> Result<(), PageError> {
    let (found, durable, begun) = {
        let tail = &shared.log.tail;
        (shared.state.borrow().ledger, tail.durable(), tail.assigned())
    };
    if found.is_clean {
        let map = MapAt { next: shared.state.borrow().zones.next(), ..found.map };
        // Twice: if one of them were damaged, the store would otherwise look as it was closed.
        let opened = Ledger { is_clean: false, map, ..found };
        shared.write_ledger(opened).await?;
        return shared.write_ledger(opened).await;
    }
    // The ledger that was found may be volatile: from here on it isn't, so the slot that it doesn't name is free. And no later
    // opening uses the sequences of this one, should it be cut off.
    shared.write_ledger(Ledger { durable, begun, ..found }).await?;
    if !tail.is_empty() {
        shared.write_again(tail).await?;
    }
    let (durable, is_closed) = shared.end_of_renewal();
    if Defect::EpochIgnored.is_seeded() {
        return shared.write_ledger(Ledger { durable, begun, ..found }).await;
    }
    shared.save(|ledger| Ledger { is_closed, ..ledger }).await?;
    if is_closed { shared.clean_before_opening().await } else { Ok(()) }
}

impl ZoneEngine {
    /// From here on everything that was found or written once more is durable. Says so, and whether too few zones are free:
    /// cleaning needs one beside those that are reserved.
    fn end_of_renewal(&self) -> (u64, bool) {
        let durable = self.log.tail.continue_behind_renewal();
        let zones = &self.state.borrow().zones;
        debug_assert!(durable <= self.log.tail.assigned(), "{durable} is durable, and was never written");
        (durable, zones.free() <= zones.reserved())
    }

    /// Cleans until there is room for clients; then the store counts as open.
    async fn clean_before_opening(self: &Rc<Self>) -> Result<(), PageError> {
        clean::work(self).await?;
        let groups = self.log.tail.assigned_groups();
        self.log.tail.make_durable(groups).await?;
        let (durable, ledger) = (self.log.tail.durable(), self.state.borrow().ledger);
        self.write_ledger(Ledger { durable, is_closed: false, ..ledger }).await
    }

    /// Writes what the tail says last of each page to another place, and flushes.
    async fn write_again(self: &Rc<Self>, tail: &[Header]) -> Result<(), PageError> {
        let (stored, discards) = self.newest_of(tail);
        debug_assert!(!stored.is_empty() || !discards.is_empty(), "an extent of the tail changes a page");
        for piece in stored.chunks(self.piece_pages()) {
            let (puts, lost) = self.read_back(piece.to_vec()).await?;
            if let Some((_, error)) = lost.into_iter().next() {
                return Err(error);
            }
            self.send_and_wait(puts, &[], Spared::by_all(0)).await?;
        }
        if !discards.is_empty() {
            self.send_and_wait(Vec::new(), &discards, Spared::by_all(0)).await?;
        }
        if Defect::RenewalUnflushed.is_seeded() { Ok(()) } else { self.context.disk.flush().await }
    }

    /// The pages of the tail that lie there, and those that were discarded there; it is in the map.
    fn newest_of(&self, tail: &[Header]) -> (Vec<Stored>, Vec<PageNumber>) {
        let map = &self.log.versions().map;
        let (mut stored, mut discards) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        for page in tail.iter().flat_map(Header::changed).filter(|page| seen.insert(*page)) {
            match map.get(page) {
                PagePlace::At { spot, sum, .. } => stored.push((page, spot, sum)),
                PagePlace::Discarded { .. } => discards.push(page),
                PagePlace::Nowhere => debug_assert!(false, "{page} is in the tail, so it is in the map"),
            }
        }
        (stored, discards)
    }
}
