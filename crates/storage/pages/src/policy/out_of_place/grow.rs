//! Growth of the area: see the [layout](super::layout).

use std::rc::Rc;

use super::ZoneEngine;
use super::layout::AreaLayout;
use super::ledger::{Ledger, MapAt};
use crate::PageError;
use crate::defects::Defect;

impl ZoneEngine {
    /// Layout with room for `pages` pages.
    pub(super) fn layout_for(&self, pages: u64) -> AreaLayout {
        let layout = self.state.borrow().ledger.layout;
        layout.grown(pages, self.context.label.page_blocks())
    }

    /// Adopts a longer area from a durable label. Continues if the caller is dropped, because slots
    /// of the new layout must be complete before their next write.
    pub(super) async fn grow(self: &Rc<Self>, area_blocks: u64) -> Result<(), PageError> {
        self.is_growing.set(true);
        let shared = Rc::clone(self);
        let growing = async move {
            let grown = shared.lay_out(area_blocks).await.inspect_err(|error| shared.context.latch(error));
            shared.is_growing.set(false);
            shared.context.changed.notify();
            grown
        };
        self.context.disk.handle().spawn_named("page store: growing", growing).await
    }

    /// Saves the map behind the old area, writes a ledger that names the map and the new layout,
    /// and then opens the new zones for writes.
    pub(super) async fn lay_out(&self, area_blocks: u64) -> Result<(), PageError> {
        // No zone may be freed meanwhile, as its contents may still count.
        let _mine = self.ledger_turn.take().await;
        let before = self.state.borrow().ledger.layout;
        let layout = before.of_area(area_blocks, self.context.label.page_blocks());
        if layout == before {
            return Ok(());
        }
        debug_assert_eq!(layout.blocks(), area_blocks, "{before:?} grows as its label does, to {layout:?}");
        if layout.slot_block(&self.context.label, 0) < before.blocks() {
            let what = "the area of the label leaves no room for the saved map behind the area as it was";
            return Err(PageError::Inconsistent { what });
        }
        if Defect::ZonesTooEarly.is_seeded() {
            self.state.borrow_mut().zones.grow(layout.zones);
        }
        let map = self.write_map_of(layout).await?;
        let ledger = {
            let state = self.state.borrow();
            Ledger { layout, map, durable: self.log.tail.durable(), ..state.ledger }
        };
        self.write_ledger(ledger).await?;
        let state = &mut *self.state.borrow_mut();
        state.zones.grow(layout.zones);
        state.lifetimes.grow(layout.pages);
        self.log.versions_mut().map.grow(layout.pages);
        Ok(())
    }

    /// Writes the map, unless nothing was ever written.
    async fn write_map_of(&self, layout: AreaLayout) -> Result<MapAt, PageError> {
        if self.log.tail.assigned() == 0 {
            return Ok(self.state.borrow().ledger.map);
        }
        self.write_map_to(layout, 0).await
    }
}
