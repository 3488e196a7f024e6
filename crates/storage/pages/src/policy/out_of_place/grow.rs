//! A longer area: see the [layout](super::layout).

use std::rc::Rc;

use super::ZoneEngine;
use super::layout::AreaLayout;
use super::ledger::{Ledger, MapAt};
use crate::PageError;
use crate::defects::Defect;

impl ZoneEngine {
    /// The layout with room for so many pages.
    pub(super) fn layout_for(&self, pages: u64) -> AreaLayout {
        let layout = self.state.borrow().ledger.layout;
        layout.grown(pages, self.context.label.page_blocks())
    }

    /// Takes over an area of so many blocks, of which a durable label tells. Goes on to its end, also where the caller doesn't
    /// wait for it: what is written to slots of the new layout must be there before they are written to again.
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

    /// Saves the map behind the area as it was, writes a ledger that names it and the new layout, and then lets the new zones be
    /// written to.
    pub(super) async fn lay_out(&self, area_blocks: u64) -> Result<(), PageError> {
        // No zone is given back meanwhile: what it held may still count.
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

    /// A store that nothing was written to has no map.
    async fn write_map_of(&self, layout: AreaLayout) -> Result<MapAt, PageError> {
        if self.log.tail.assigned() == 0 {
            return Ok(self.state.borrow().ledger.map);
        }
        self.write_map_to(layout, 0).await
    }
}
