//! Flushes, and the ledger that lets zones be used again.

use super::ZoneEngine;
use super::ledger::Ledger;
use crate::defects::Defect;
use crate::extents::{Counts, write_copy};
use crate::{BLOCK_BYTES, PageError};

impl ZoneEngine {
    /// Makes durable all groups up to the one with this sequence.
    pub(super) async fn make_durable(&self, target: u64) -> Result<(), PageError> {
        loop {
            self.disk.check_writable()?;
            let (durable, written, whole) = {
                let chain = &self.state.borrow().chain;
                (chain.durable(), chain.written(), chain.written_groups())
            };
            if durable >= target {
                return Ok(());
            }
            if whole < target {
                let is_written = || self.state.borrow().chain.written_groups() >= target;
                self.wait_for(is_written).await?;
                continue;
            }
            let flushed = if Defect::SkippedFlush.is_seeded() { Ok(()) } else { self.disk.flush().await };
            if flushed.is_ok() {
                self.state.borrow_mut().chain.flushed(written);
            }
            self.changed.notify();
            flushed?;
        }
    }

    /// Waits until something is so, or the store has stopped.
    pub(super) async fn wait_for(&self, is_so: impl Fn() -> bool) -> Result<(), PageError> {
        self.changed.wait(|| (is_so() || self.disk.check_writable().is_err()).then_some(())).await;
        self.disk.check_writable()
    }

    /// Gives back the zones in which nothing is alive: flushes, writes a ledger that covers what is in them and what made
    /// them dead, flushes, and lets the drive forget them. Returns whether there were any.
    pub(super) async fn give_back(&self) -> Result<bool, PageError> {
        let _mine = self.ledger_turn.take().await;
        let groups = self.state.borrow().chain.assigned_groups();
        if !Defect::DeadTooEarly.is_seeded() {
            self.make_durable(groups).await?;
        }
        let (dead, ledger) = {
            let state = self.state.borrow();
            let durable = state.chain.durable();
            let ledger = Ledger { durable, ..state.ledger };
            (state.zones.dead_zones(if Defect::DeadTooEarly.is_seeded() { groups } else { durable }), ledger)
        };
        if dead.is_empty() {
            return Ok(false);
        }
        self.write_ledger(ledger).await?;
        for zone in dead {
            let blocks = self.state.borrow().zones.blocks_of(zone);
            let length_bytes = (blocks.end - blocks.start) * BLOCK_BYTES as u64;
            self.disk.discard(self.label.offset_of(blocks.start), length_bytes).await?;
            self.state.borrow_mut().zones.release(zone);
        }
        self.changed.notify();
        Ok(true)
    }

    /// Writes a ledger that covers all that is durable now, and flushes.
    pub(super) async fn write_ledger(&self, ledger: Ledger) -> Result<(), PageError> {
        let ledger = {
            let state = &mut *self.state.borrow_mut();
            debug_assert!(ledger.durable <= state.chain.durable(), "a ledger covers what is durable");
            let durable = state.chain.durable();
            state.needed.durable(durable);
            state.needed.saved(ledger.map.saved);
            state.ledger = Ledger { durable, needed: state.needed.seal(), ..ledger };
            state.ledger
        };
        loop {
            let (stamp, copy) = {
                let rotation = &mut self.state.borrow_mut().rotation;
                (rotation.advance(), rotation.newest_copy())
            };
            let encode = |contents: &mut [u8]| ledger.encode(self.label.id, stamp, contents);
            write_copy(&self.disk, &self.label, &self.arena, copy, encode).await?;
            if !Defect::LedgerUnflushed.is_seeded() {
                self.disk.flush().await?;
            }
            if self.state.borrow_mut().rotation.flushed() == Counts::Already {
                return Ok(());
            }
        }
    }
}
