//! Saves the map; see its [format](super::saved_map).

use std::collections::VecDeque;
use std::rc::Rc;

use nandle_io::{Arena, WriteBuffers};

use super::ZoneEngine;
use super::layout::AreaLayout;
use super::ledger::{Ledger, MapAt};
use super::saved_map::encode;
use crate::defects::Defect;
use crate::memory::memory_of;
use crate::{BLOCK_BYTES, PageError};

/// Length of a request in bytes.
pub(super) const PIECE_BYTES: usize = 1 << 20;
/// Requests in flight.
pub(super) const DEPTH: usize = 8;
/// Bytes written between saves, in multiples of the map's length.
const INTERVAL_MAPS: u64 = 32;
/// Minimum number of zones begun between saves.
const INTERVAL_ZONES: u64 = 64;

impl ZoneEngine {
    /// Offset of a slot of the saved map on the device.
    fn slot_at(&self, layout: AreaLayout, slot: u64) -> u64 {
        let label = &self.context.label;
        label.offset_of(layout.slot_block(label, slot))
    }

    /// Saves the map in the background if enough was written since the last time.
    pub(super) fn save_ahead(self: &Rc<Self>) {
        if !self.is_time_to_save() {
            return;
        }
        self.state.borrow_mut().is_saving = true;
        let shared = Rc::clone(self);
        self.context.disk.handle().spawn_named("page store: saving the map", async move {
            if let Err(error) = shared.save(|ledger| ledger).await {
                shared.context.latch(&error);
            }
            shared.state.borrow_mut().is_saving = false;
            shared.context.changed.notify();
        });
    }

    fn is_time_to_save(&self) -> bool {
        let state = self.state.borrow();
        let blocks = state.ledger.layout.map_blocks;
        let interval = self.context.options.map_interval_bytes.map(|bytes| bytes / BLOCK_BYTES as u64);
        let interval = interval.unwrap_or(INTERVAL_MAPS * blocks).div_ceil(self.zone_blocks);
        let least = if self.context.options.map_interval_bytes.is_some() { 1 } else { INTERVAL_ZONES };
        !state.is_saving && !state.is_stopped && state.zones.begun() >= interval.max(least)
    }

    /// Saves the current map, and writes the ledger that names it, after applying `change`.
    pub(super) async fn save(&self, change: impl FnOnce(Ledger) -> Ledger) -> Result<(), PageError> {
        // No zone may be freed meanwhile, as its contents may still count.
        let _mine = self.ledger_turn.take().await;
        let map = self.write_map().await?;
        let ledger = {
            let state = self.state.borrow();
            Ledger { map, durable: self.log.tail.durable(), ..state.ledger }
        };
        self.write_ledger(change(ledger)).await
    }

    /// Saves the map at a close, so that the next opening has nothing to search.
    pub(super) async fn save_for_good(&self) -> Result<(), PageError> {
        self.context.disk.check_writable()?;
        if !self.log.is_all_durable() {
            return Ok(());
        }
        self.save_twice().await.inspect_err(|error| self.context.latch(error))
    }

    /// Writes two equal ledgers, and the map to both slots, so that any one of these blocks may be
    /// lost.
    async fn save_twice(&self) -> Result<(), PageError> {
        self.save(|ledger| Ledger { is_clean: true, ..ledger }).await?;
        let _mine = self.ledger_turn.take().await;
        let ledger = self.state.borrow().ledger;
        self.write_ledger(ledger).await?;
        if ledger.map.saved == 0 {
            return Ok(());
        }
        let copy = self.encoded(ledger.layout, ledger.map.saved);
        self.write_slot(self.slot_at(ledger.layout, ledger.map.other_slot()), &copy).await?;
        self.context.disk.flush().await
    }

    fn encoded(&self, layout: AreaLayout, saved: u64) -> Vec<u8> {
        let state = self.state.borrow();
        let map = &self.log.versions().map;
        debug_assert_eq!(map.first_known_from(layout.pages), None, "{layout:?} has room for all pages");
        let slot = encode((self.context.label.id, saved), layout, map, state.zones.filled());
        let slot_bytes = layout.map_blocks * BLOCK_BYTES as u64;
        debug_assert_eq!(slot.len() as u64, slot_bytes, "a slot is filled to its end");
        slot
    }

    /// Writes the map to the free slot, and flushes it. The map covers all extents sent before the
    /// call, which are made durable first.
    async fn write_map(&self) -> Result<MapAt, PageError> {
        let Ledger { layout, map: found, .. } = self.state.borrow().ledger;
        let saved = self.log.tail.assigned();
        if saved == found.saved {
            return Ok(found);
        }
        debug_assert!(saved > found.saved, "a map tells of more than {found:?}, not up to {saved}");
        self.write_map_to(layout, found.other_slot()).await
    }

    /// Writes the map to an unused slot of any layout.
    pub(super) async fn write_map_to(&self, layout: AreaLayout, slot: u64) -> Result<MapAt, PageError> {
        let (saved, next) = (self.log.tail.assigned(), self.state.borrow().zones.next());
        let encoded = self.encoded(layout, saved);
        self.state.borrow_mut().zones.begin_to_save();
        self.log.tail.make_durable(saved).await?;
        self.write_slot(self.slot_at(layout, slot), &encoded).await?;
        if !Defect::RenewalUnflushed.is_seeded() {
            self.context.disk.flush().await?;
        }
        Ok(MapAt { saved, slot, next })
    }

    async fn write_slot(&self, offset_bytes: u64, slot: &[u8]) -> Result<(), PageError> {
        let arena = Arena::new(slot.len().min(PIECE_BYTES) * DEPTH)?;
        let mut writes = VecDeque::new();
        for (offset_bytes, piece) in (offset_bytes..).step_by(PIECE_BYTES).zip(slot.chunks(PIECE_BYTES)) {
            if writes.len() == DEPTH
                && let Some(first) = writes.pop_front()
            {
                let first: crate::disk::Writing = first;
                first.await?;
            }
            let mut buffer = memory_of(&arena, piece.len())?;
            buffer.copy_from_slice(piece);
            let from: WriteBuffers = [buffer.freeze()].into_iter().collect();
            writes.push_back(self.context.disk.write("saving the map", offset_bytes, from));
        }
        for write in writes {
            write.await?;
        }
        Ok(())
    }
}
