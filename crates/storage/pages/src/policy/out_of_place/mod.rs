//! Writes each version of a page to a new place. Pages that will die at about the same time share a
//! zone, whose length suits the drive's own cleaning, so that whole zones die and the drive moves
//! little. After `ZLeanStore` (arXiv 2603.09927).
//!
//! ```text
//! write → gather (memory) → extents, one for each group of lifetimes, each at the end of its group's open zone → flush
//! clean: the victim's living pages are read and written again, by their lifetimes → flush → ledger → flush → discard
//! ```
//!
//! After a power cut every acknowledged batch is present, and of the others a prefix of whole
//! batches. Pages are never overwritten: a new version goes elsewhere, and the zone of the old one
//! is reused only after a durable ledger covers the newer one. Extents form a chain by sequence
//! numbers, which ends before its first gap, at the end of a group of batches. The map is
//! [saved](saved_map) at a close, at intervals, and by each opening after an unclean end. Later
//! writes are recovered from their [headers](header); headers covered by the saved map no longer
//! matter. Remains of an interrupted opening therefore never return, whatever the drive does with
//! them. A discarded page stays discarded, because the discard is stored like a page.
//!
//! Pages are compressed where that pays, which is the first of `ZLeanStore`'s savings: it reduces
//! wear, and the space saved is spare space that makes cleaning cheap. An engine's pages are often
//! empty or repetitive by a third to a half. See [packing].
//!
//! A store grows by zones behind the existing ones: see [layout].
//!
//! Memory: 32 bytes per page for the map, 24 for the lifetimes, and 8 for each page in a zone.

mod capacity;
mod clean;
mod durable;
mod format;
mod grow;
mod header;
mod inspect;
mod layout;
mod ledger;
mod lifetimes;
mod log;
mod map;
mod needed;
mod packing;
mod read;
mod recover;
mod renew;
mod rooms;
mod save;
mod saved_map;
mod walk;
mod write;
mod zones;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut, Durability};

pub(crate) use self::format::{ZoneRoom, zone_room};
pub(super) use self::format::{areas, format, largest_batch};
pub(crate) use self::inspect::{ZoneEvidence, unpacked};
use self::ledger::Ledger;
use self::lifetimes::Lifetimes;
use self::log::ZoneLog;
use self::needed::NeededExtents;
pub(crate) use self::packing::{LEAST_SAVING, Spot, unpack};
use self::zones::Zones;
use super::{Descriptor, Layout, Parts, Policy, Promises, Task};
use crate::extents::Rotation;
use crate::home::Place;
use crate::label::Label;
use crate::signal::Turn;
use crate::write_log::Context;
use crate::{BLOCK_BYTES, Batch, BatchNumber, PageError, PageNumber, Stats};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "out-of-place",
    description: "writes each version of a page to a new place, beside others that will die at the same time",
    code: 5,
    promises: Promises::ALL,
    layout: Layout::Zones,
    open: |parts| Box::pin(async { Ok(Box::new(OutOfPlace::open(parts).await?) as Box<dyn Policy>) }),
};

/// Policy that writes each version of a page to a new place.
pub(crate) struct OutOfPlace {
    shared: Rc<ZoneEngine>,
}

/// State shared by the policy's tasks.
struct ZoneEngine {
    context: Rc<Context>,
    log: Rc<ZoneLog>,
    zone_blocks: u64,
    state: RefCell<EngineState>,
    ledger_turn: Turn,
    /// Last batch found by the opening.
    opened_batch: BatchNumber,
    is_growing: Cell<bool>,
}

/// State of the zones.
struct EngineState {
    zones: Zones,
    lifetimes: Lifetimes,
    /// Extents that the next ledger requires.
    needed: NeededExtents,
    ledger: Ledger,
    rotation: Rotation,
    is_cleaning: bool,
    is_saving: bool,
    is_stopped: bool,
}

impl OutOfPlace {
    /// Opens and recovers the area of a store.
    pub(super) async fn open(parts: Parts) -> Result<Self, PageError> {
        Ok(Self { shared: recover::recover(parts).await? })
    }
}

impl Policy for OutOfPlace {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        Box::pin(async {
            self.shared
                .log
                .accept(batch, async || write::push(&self.shared, Durability::Volatile).await)
                .await
        })
    }

    fn sync(&self) -> Task<'_, BatchNumber> {
        Box::pin(async {
            // Uses a single durable write where possible.
            let push = async || write::push(&self.shared, Durability::Durable).await;
            self.shared.log.commit(push).await.map(BatchNumber)
        })
    }

    fn opened_batch(&self) -> BatchNumber {
        self.shared.opened_batch
    }

    fn zone_bytes(&self) -> Option<u64> {
        Some(self.shared.zone_blocks * BLOCK_BYTES as u64)
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.shared.read(page, into))
    }

    /// Cleaning may move the page and overwrite its place at any time. The checksum then reveals it
    /// to a reader.
    fn locate(&self, page: PageNumber) -> Option<Place> {
        self.shared.locate(page)
    }

    /// Pages have no home places, so a sync suffices.
    fn checkpoint(&self) -> Task<'_, ()> {
        Box::pin(async { self.sync().await.map(drop) })
    }

    fn largest_batch(&self) -> usize {
        self.shared.log.group_max()
    }

    fn area_bytes(&self, pages: u64) -> Option<u64> {
        Some(self.shared.layout_for(pages).bytes())
    }

    fn grow<'a>(&'a self, label: &Label) -> Task<'a, ()> {
        let area_blocks = label.area_blocks();
        Box::pin(async move { self.shared.grow(area_blocks).await })
    }

    fn known(&self) -> Vec<PageNumber> {
        let mut pages = self.shared.log.unsent();
        pages.extend(self.shared.log.versions().map.pages());
        pages.sort_unstable();
        pages.dedup();
        debug_assert!(pages.last().is_none_or(|last| last.0 < self.shared.context.home.pages()), "{pages:?}");
        pages
    }

    fn stats(&self, stats: &mut Stats) {
        stats.staged_pages = self.shared.log.unsent().len() as u64;
    }

    fn stop(&self) {
        self.shared.state.borrow_mut().is_stopped = true;
    }

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        let shared = &self.shared;
        // A failed write stays in flight forever.
        let has_ended = || {
            let state = shared.state.borrow();
            let has_landed =
                shared.log.tail.in_flight() == 0 || shared.context.disk.check_writable().is_err();
            !state.is_cleaning && !state.is_saving && !shared.is_growing.get() && has_landed
        };
        Box::pin(async move { shared.context.changed.wait(|| has_ended().then_some(())).await })
    }

    fn close(&self) -> Task<'_, ()> {
        Box::pin(self.shared.save_for_good())
    }
}
