//! Writes once more what an opening finds and nobody knows to be durable.
//!
//! A drive whose flush failed may show what it holds only in its cache, and never writes it: a later flush succeeds, and a
//! power cut takes it away (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020, found file
//! systems of which this is true). An opening can't tell that from a power cut that everything survived. So the groups
//! behind the last one of which something later says that it is durable are read, and written to free room; then come a
//! flush, and the ledger that names the new extents and not the old ones. Before it is durable the old ones count, after
//! it the new ones: the new ones are no part of the chain.
//!
//! There is room: what isn't durable is never more than a group may be, and when all others have gone home that fits beside
//! itself. Until that ledger is durable none of it goes home.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::drain;
use super::engine::{Shared, staged_damage};
use super::header::{ENTRIES_MAX, Header};
use super::space::Slot;
use crate::batch::Change;
use crate::defects::Defect;
use crate::extents::Chain;
use crate::page::checksum;
use crate::{PageError, PageNumber};

/// The newest of what the tail says of a page.
struct Found {
    page: PageNumber,
    /// Where its contents are, and their checksum; none if it was discarded.
    contents: Option<(Slot, u32)>,
}

/// Begins the epoch of an opening that found such extents, or none.
pub(super) async fn begin(shared: &Rc<Shared>, tail: &[Header]) -> Result<(), PageError> {
    if !tail.is_empty() {
        write_again(shared, tail).await?;
    }
    shared.begin_epoch(tail).await
}

async fn write_again(shared: &Rc<Shared>, tail: &[Header]) -> Result<(), PageError> {
    // The ledger may be volatile too, and then what it calls dead isn't free yet.
    shared.write_down().await?;
    let newest = newest_of(tail);
    shared.make_room_for(newest.len()).await?;
    for piece in newest.chunks(shared.piece_pages()) {
        let mut changes = Vec::with_capacity(piece.len());
        for found in piece {
            changes.push((found.page, shared.change_of(found).await?));
        }
        shared.state.borrow_mut().gather.add(changes);
        let sequence = shared.push().await?;
        // Its memory is for the next piece.
        shared.wait_until_written(sequence).await?;
    }
    if Defect::RenewalUnflushed.is_seeded() { Ok(()) } else { shared.disk.flush().await }
}

/// What the tail says last of each page.
fn newest_of(tail: &[Header]) -> Vec<Found> {
    let mut seen = FxHashSet::default();
    let mut newest = Vec::new();
    for header in tail.iter().rev() {
        let extent = header.position;
        let puts = header.pages.iter().enumerate();
        let puts = puts.map(|(index, (page, sum))| (*page, Some((Slot { extent, index }, *sum))));
        // A page is in an extent once: as contents or as a discard.
        for (page, contents) in puts.chain(header.discards.iter().map(|page| (*page, None))) {
            if seen.insert(page) {
                newest.push(Found { page, contents });
            }
        }
    }
    newest
}

impl Shared {
    /// Pages that are in memory at the same time.
    fn piece_pages(&self) -> usize {
        (self.arena.bytes() / 4 / self.label.page_length()).max(1)
    }

    /// Brings everything else home if it stands in the way of so many pages.
    async fn make_room_for(self: &Rc<Self>, pages: usize) -> Result<(), PageError> {
        let piece = self.piece_pages();
        let headers = pages.div_ceil(piece) * piece.div_ceil(ENTRIES_MAX);
        let needed = pages as u64 * self.label.page_blocks() + headers as u64;
        if self.state.borrow_mut().space.longest_room_blocks() >= needed {
            return Ok(());
        }
        drain::everything(self).await
    }

    async fn change_of(&self, found: &Found) -> Result<Change, PageError> {
        let Some((slot, expected)) = found.contents else { return Ok(Change::Discard) };
        let into = self.arena.allocate(self.label.page_length())?;
        let contents = self.read_slot(slot, into).await?;
        let got = checksum(found.page, &contents);
        if got == expected {
            Ok(Change::Put(contents))
        } else {
            Err(staged_damage(found.page, got, expected))
        }
    }

    async fn wait_until_written(&self, sequence: u64) -> Result<(), PageError> {
        let is_written = || self.state.borrow().chain.written() >= sequence;
        let is_over = || is_written() || self.disk.check_writable().is_err();
        self.changed.wait(|| is_over().then_some(())).await;
        self.disk.check_writable()
    }

    /// The new extents are durable: they count from the next ledger on, which must be of the new epoch, because in the old
    /// one they don't continue the chain; and the old ones are dead.
    pub(super) fn count_instead_of(&self, tail: &[Header]) {
        if tail.is_empty() {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        let sequence = state.chain.assigned();
        state.chain = Chain::after(sequence);
        for header in tail {
            let slots = (0..header.pages.len()).map(|index| Slot { extent: header.position, index });
            state.superseded.extend(slots.map(|slot| (slot, sequence)));
        }
    }
}
