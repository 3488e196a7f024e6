//! Ledger writes that free zones.

use super::ZoneEngine;
use super::ledger::Ledger;
use crate::defects::Defect;
use crate::extents::{Counts, write_copy};
use crate::write_log::Context;
use crate::{BLOCK_BYTES, PageError};

impl ZoneEngine {
    /// Frees zones without live contents: flushes, writes a ledger that covers the zones' contents
    /// and their successors, flushes, and discards the zones on the drive. Returns true if there
    /// were any.
    pub(super) async fn give_back(&self) -> Result<bool, PageError> {
        let _mine = self.ledger_turn.take().await;
        let groups = self.log.tail.assigned_groups();
        if !Defect::DeadTooEarly.is_seeded() {
            self.log.tail.make_durable(groups).await?;
        }
        let (dead, ledger) = {
            let state = self.state.borrow();
            let durable = self.log.tail.durable();
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
            self.context.disk.discard(self.context.label.offset_of(blocks.start), length_bytes).await?;
            self.state.borrow_mut().zones.release(zone);
            self.context.disk.count(|stats| stats.zones_freed += 1);
        }
        self.context.changed.notify();
        Ok(true)
    }

    /// Writes a ledger that covers everything durable, and flushes.
    pub(super) async fn write_ledger(&self, ledger: Ledger) -> Result<(), PageError> {
        let ledger = {
            let state = &mut *self.state.borrow_mut();
            let durable = self.log.tail.durable();
            debug_assert!(
                ledger.durable <= durable,
                "a ledger covers what is durable, {durable}: {ledger:?}"
            );
            debug_assert!(
                state.ledger.map.saved <= ledger.map.saved,
                "a newer map isn't an older one: {ledger:?}"
            );
            debug_assert!(state.ledger.durable <= durable, "ledgers cover more and more: {ledger:?}");
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
            let Context { disk, label, arena, .. } = &*self.context;
            let encode = |contents: &mut [u8]| ledger.encode(label.id, stamp, contents);
            write_copy(disk, label, arena, copy, encode).await?;
            if !Defect::LedgerUnflushed.is_seeded() {
                disk.flush().await?;
            }
            if self.state.borrow_mut().rotation.flushed() == Counts::Already {
                return Ok(());
            }
        }
    }
}
