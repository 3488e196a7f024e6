//! What an opening writes before anybody may write: it wipes what lies beyond the end of the chain, and writes once more
//! what nobody knows to be durable. Why, see the staging policies' [renewal](crate::staging).
//!
//! The groups behind the last one of which something later says that it is durable are read, and written to the zones that
//! are always kept free for it. Then come a flush, and a ledger by which the new extents count and the old ones don't. Before
//! that ledger is durable the old ones count.
//!
//! Where too few zones are free after that, the store stays closed until cleaning has made them free: should the power be cut
//! meanwhile, what was moved is still where it was, and nobody was told anything, so it needn't be written once more.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::Shared;
use super::clean::{self, Stored};
use super::header::Header;
use super::ledger::Ledger;
use super::map::Place;
use super::recover::Area;
use crate::defects::Defect;
use crate::extents::Chain;
use crate::{PageError, PageNumber};

/// What an opening found beside what counts and is durable.
pub(super) struct Remains {
    /// Extents that don't count.
    pub(super) left_behind: Vec<Header>,
    /// Those that count, and that nobody knows to be durable.
    pub(super) tail: Vec<Header>,
}

pub(super) async fn begin(shared: &Rc<Shared>, area: &Area<'_>, remains: Remains) -> Result<(), PageError> {
    let Remains { left_behind, tail } = remains;
    let (found, cut, last_before) = {
        let state = shared.state.borrow();
        (state.ledger, state.chain.durable(), state.chain.assigned())
    };
    if !left_behind.is_empty() || !tail.is_empty() {
        // The ledger may be volatile too, and what counts by the one before it must stay until it isn't. And should this
        // opening fail, zeros may be lost again that a later one can read.
        let end = tail.last().map_or(cut, |last| last.sequence);
        let aborted = found.aborted.with(found.cut, found.first);
        let aborted = aborted.and_then(|aborted| aborted.with(end, last_before + 1));
        let aborted = aborted
            .ok_or_else(|| shared.corrupt("too many openings failed to wipe what was left behind", 0))?;
        shared.write_ledger(Ledger { durable: cut, aborted, ..found }).await?;
        area.wipe(&left_behind).await?;
    }
    if !tail.is_empty() {
        shared.write_again(&tail).await?;
    }
    let (durable, is_closed) = {
        let state = &mut *shared.state.borrow_mut();
        state.chain = Chain::after(state.chain.assigned());
        (state.chain.durable(), state.zones.free() < state.zones.reserved())
    };
    let ledger = Ledger { durable, cut, first: last_before + 1, is_closed, ..found };
    shared.write_ledger(ledger).await?;
    if is_closed {
        clean::work(shared).await?;
        let groups = shared.state.borrow().chain.assigned_groups();
        shared.make_durable(groups).await?;
        let durable = shared.state.borrow().chain.durable();
        shared.write_ledger(Ledger { durable, is_closed: false, ..ledger }).await?;
    }
    Ok(())
}

impl Shared {
    /// Writes what the tail says last of each page to another place, and flushes.
    async fn write_again(self: &Rc<Self>, tail: &[Header]) -> Result<(), PageError> {
        let (stored, discards) = self.newest_of(tail);
        for piece in stored.chunks(self.piece_pages()) {
            let puts = self.read_back(piece.to_vec()).await?;
            self.send_and_wait(puts, &[], 0).await?;
        }
        if !discards.is_empty() {
            self.send_and_wait(Vec::new(), &discards, 0).await?;
        }
        if Defect::RenewalUnflushed.is_seeded() { Ok(()) } else { self.disk.flush().await }
    }

    /// The pages of the tail that lie there, and those that were discarded there; it is in the map.
    fn newest_of(&self, tail: &[Header]) -> (Vec<Stored>, Vec<PageNumber>) {
        let state = self.state.borrow();
        let (mut stored, mut discards) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        let pages = tail.iter().flat_map(|header| {
            header.pages.iter().map(|entry| entry.page).chain(header.discards.iter().copied())
        });
        for page in pages.filter(|page| seen.insert(*page)) {
            match state.map.get(page) {
                Place::At { spot, sum, .. } => stored.push((page, spot, sum)),
                Place::Discarded { .. } => discards.push(page),
                Place::Nowhere => {}
            }
        }
        (stored, discards)
    }
}
