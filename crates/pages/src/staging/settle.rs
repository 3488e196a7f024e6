//! Makes the slots free whose pages are safe elsewhere.

use super::engine::Shared;
use super::header::Header;
use super::ledger::Ledger;
use super::space::Slot;
use crate::PageError;
use crate::defects::Defect;
use crate::extents::{Counts, write_copy};

impl Shared {
    /// Flushes, writes a ledger that calls the slots dead whose pages are home or superseded, flushes, and gives them
    /// back. Returns whether there were any, or others did so meanwhile. The flushes are those of commits, as long as nobody
    /// is in a hurry.
    pub(super) async fn settle(&self) -> Result<bool, PageError> {
        let before = self.state.borrow().settlings;
        let _mine = self.settle_turn.take().await;
        let others = self.state.borrow().settlings != before;
        let settled = self.settle_alone().await.map(|any| any || others);
        self.state.borrow_mut().settling = 0;
        self.changed.notify();
        settled.inspect_err(|error| self.disk.latch(error))
    }

    async fn settle_alone(&self) -> Result<bool, PageError> {
        let (homed, written) = {
            let mut state = self.state.borrow_mut();
            let homed = std::mem::take(&mut state.homed);
            state.settling = homed.len();
            (homed, state.chain.written())
        };
        let has_more = {
            let state = self.state.borrow();
            !state.superseded.is_empty() || state.space.has_empty()
        };
        if homed.is_empty() && !has_more {
            return Ok(false);
        }
        if !Defect::UnflushedHomes.is_seeded() {
            self.disk.flush_when(|| self.is_in_a_hurry()).await?;
        }
        let (dead, empty, ledger) = self.draw_up(homed, written);
        self.state.borrow_mut().settling = dead.len();
        if dead.is_empty() && empty.is_empty() {
            return Ok(false);
        }
        self.write_ledger(&ledger).await?;
        if !Defect::LedgerUnflushed.is_seeded() {
            self.disk.flush_when(|| self.is_in_a_hurry()).await?;
        }
        let state = &mut *self.state.borrow_mut();
        // The opening's own ledger was durable, so this one counts at once.
        state.rotation.flushed();
        state.space.release(&dead, &empty);
        state.settlings += 1;
        Ok(true)
    }

    /// What is dead now that all that was written and homed before the flush is durable.
    fn draw_up(&self, mut dead: Vec<Slot>, written: u64) -> (Vec<Slot>, Vec<u64>, Ledger) {
        let state = &mut *self.state.borrow_mut();
        state.chain.flushed(written);
        let durable = state.chain.durable();
        state.superseded.retain(|(slot, by)| {
            let is_dead = *by <= durable || Defect::DeadTooEarly.is_seeded();
            if is_dead {
                dead.push(*slot);
            }
            !is_dead
        });
        // In the order of the extents, which are looked up one by one.
        dead.sort_unstable_by_key(|slot| (slot.extent, slot.index));
        state.space.kill(&dead);
        let (headers, slots, empty) = state.space.tell(durable);
        let ledger = Ledger { epoch: state.epoch, durable, headers, slots };
        (dead, empty, ledger)
    }

    async fn write_ledger(&self, ledger: &Ledger) -> Result<(), PageError> {
        let (stamp, copy) = {
            let rotation = &mut self.state.borrow_mut().rotation;
            (rotation.advance(), rotation.newest_copy())
        };
        let copy = if Defect::LedgerInPlace.is_seeded() { 0 } else { copy };
        let encode = |contents: &mut [u8]| ledger.encode(self.label.id, stamp, contents);
        write_copy(&self.disk, &self.label, &self.arena, copy, encode).await
    }

    /// Somebody waits for slots, or soon will: half of what was free when draining began is used up.
    pub(super) fn is_in_a_hurry(&self) -> bool {
        let state = self.state.borrow();
        let little = state.space.blocks() / (2 * self.draining.starts_below);
        state.hurrying > 0 || state.is_stopped || state.space.room_blocks() < little
    }

    /// From now on until it is dropped, somebody is in a hurry.
    pub(super) fn hurry(&self) -> Hurry<'_> {
        self.state.borrow_mut().hurrying += 1;
        self.disk.look_again();
        Hurry(self)
    }

    /// Begins the epoch of this opening. All that is there is durable.
    pub(super) async fn begin_epoch(&self, tail: &[Header]) -> Result<(), PageError> {
        let _hurry = self.hurry();
        let _mine = self.settle_turn.take().await;
        self.count_instead_of(tail);
        {
            let state = &mut *self.state.borrow_mut();
            state.epoch += 1;
            state.extents_epoch = state.epoch;
        }
        self.write_down().await?;
        self.state.borrow_mut().order_the_group();
        Ok(())
    }

    /// Writes what is known to be durable into a ledger that is.
    pub(super) async fn write_down(&self) -> Result<(), PageError> {
        let (dead, empty, ledger) = self.draw_up(Vec::new(), 0);
        loop {
            self.write_ledger(&ledger).await?;
            if !Defect::LedgerUnflushed.is_seeded() {
                self.disk.flush().await?;
            }
            let state = &mut *self.state.borrow_mut();
            if state.rotation.flushed() == Counts::Already {
                state.space.release(&dead, &empty);
                return Ok(());
            }
        }
    }
}

/// Somebody who can't wait until others flush.
pub(super) struct Hurry<'a>(&'a Shared);

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().hurrying -= 1;
    }
}
