//! Renewal: an opening rewrites everything that may be volatile, before clients may write. For the
//! reason see the staging policies' [renewal](crate::staging).
//!
//! The groups behind the last one known to be durable are read, and written to zones reserved for
//! this. A flush follows, and then a ledger that replaces the old extents by the new ones. Until
//! that ledger is durable the old ones count.
//!
//! The ledger names a saved map. Extents covered by the map count, and extents beyond the end of
//! the chain don't, so nothing has to be wiped.
//!
//! If too few zones are free afterwards, the store stays closed until cleaning has freed some. If
//! the power fails meanwhile, moved pages are still at their old places and nothing was
//! acknowledged, so no further renewal is needed.

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

/// Begins an opening for writing.
pub(super) async fn begin(shared: &Rc<ZoneEngine>, tail: &[Header]) -> Result<(), PageError> {
    let (found, durable, begun) = {
        let tail = &shared.log.tail;
        (shared.state.borrow().ledger, tail.durable(), tail.assigned())
    };
    if found.is_clean {
        let map = MapAt { next: shared.state.borrow().zones.next(), ..found.map };
        // Written twice: with a single one, damage to it would make the store look closed.
        let opened = Ledger { is_clean: false, map, ..found };
        shared.write_ledger(opened).await?;
        return shared.write_ledger(opened).await;
    }
    // The ledger found may be volatile. From here on it isn't, so the slot that it doesn't name is
    // free. The new ledger also reserves the sequences of this opening, in case it is interrupted.
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
    /// Marks everything found or rewritten as durable. Returns the durable sequence, and true if
    /// cleaning lacks its one zone in addition to the reserved ones.
    fn end_of_renewal(&self) -> (u64, bool) {
        let durable = self.log.tail.continue_behind_renewal();
        let zones = &self.state.borrow().zones;
        debug_assert!(durable <= self.log.tail.assigned(), "{durable} is durable, and was never written");
        (durable, zones.free() <= zones.reserved())
    }

    /// Cleans until clients have room. The store then counts as open.
    async fn clean_before_opening(self: &Rc<Self>) -> Result<(), PageError> {
        clean::work(self).await?;
        let groups = self.log.tail.assigned_groups();
        self.log.tail.make_durable(groups).await?;
        let (durable, ledger) = (self.log.tail.durable(), self.state.borrow().ledger);
        self.write_ledger(Ledger { durable, is_closed: false, ..ledger }).await
    }

    /// Rewrites the newest version of each page in the tail, and flushes.
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

    /// Pages whose newest contents or discards lie in the tail. The map already includes the tail.
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
