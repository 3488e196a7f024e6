//! Makes the slots free whose pages are safe elsewhere.

use nandle_io::WriteBuffers;

use super::engine::Shared;
use super::ledger::Ledger;
use super::space::Slot;
use crate::PageError;
use crate::defects::Defect;

impl Shared {
    /// Flushes, writes a ledger that calls the slots dead whose pages are home or superseded, flushes, and gives them
    /// back. Returns whether there were any. The flushes are those of commits, as long as nobody is in a hurry.
    pub(super) async fn settle(&self) -> Result<bool, PageError> {
        let _mine = self.settle_turn.take().await;
        let settled = self.settle_alone().await;
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
        if homed.is_empty() && self.state.borrow().superseded.is_empty() {
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
        self.state.borrow_mut().space.release(&dead, &empty);
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
        let generation = state.generation + 1;
        let ledger = Ledger { epoch: state.epoch, generation, durable, headers, slots };
        (dead, empty, ledger)
    }

    async fn write_ledger(&self, ledger: &Ledger) -> Result<(), PageError> {
        let bytes = usize::try_from(self.label.ledger_bytes).unwrap_or(usize::MAX);
        let mut copy = self.arena.allocate(bytes)?;
        ledger.encode(self.label.id, &mut copy);
        let from: WriteBuffers = [copy.freeze()].into_iter().collect();
        let offset_bytes = self.label.ledger_offset + copy_of(ledger.generation) * self.label.ledger_bytes;
        // Counted with the write: a generation that isn't written would make the next one hit the newest valid copy.
        self.state.borrow_mut().generation = ledger.generation;
        self.disk.write("writing the ledger", offset_bytes, from).await
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

    /// Begins the epoch of this opening.
    pub(super) async fn begin_epoch(&self) -> Result<(), PageError> {
        self.disk.flush().await?;
        let (dead, empty, ledger) = self.draw_up(Vec::new(), 0);
        self.write_ledger(&ledger).await?;
        if !Defect::LedgerUnflushed.is_seeded() {
            self.disk.flush().await?;
        }
        self.state.borrow_mut().space.release(&dead, &empty);
        Ok(())
    }
}

/// Somebody who can't wait until others flush.
pub(super) struct Hurry<'a>(&'a Shared);

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().hurrying -= 1;
    }
}

/// The copy that a generation is written to.
fn copy_of(generation: u64) -> u64 {
    if Defect::LedgerInPlace.is_seeded() { 0 } else { generation % 2 }
}
