//! Every page to a new place: pages that will die at about the same time share a zone, which is as long as what the drive
//! cleans at once, so that whole zones die and the drive has little to move. After `ZLeanStore` (arXiv 2603.09927).
//!
//! ```text
//! write → gather (memory) → extents, one for each group of lifetimes, each at the end of its group's open zone → flush
//! clean: the victim's living pages are read and written again, by their lifetimes → flush → ledger → flush → discard
//! ```
//!
//! What survives a power cut: every batch that was acknowledged, and of the others as a whole those before the first that
//! isn't whole. No page is ever written over: its new version lies elsewhere, and the zone of the old one is used again
//! only when a durable ledger says that everything up to the newer one is durable. Extents form a chain by their
//! sequence numbers, which ends before its first gap and at the end of a group of batches. The map is [saved](saved_map) when the
//! store is closed, at intervals, and by each opening that finds it not closed; what was written since is found again by the
//! [headers](header), of which those don't matter any more that the saved map covers. So what an opening cut off can't come
//! back, whatever the drive does with it. A discarded page stays discarded: its discard is kept like a page.
//!
//! Pages are compressed where that pays, the first of `ZLeanStore`'s cuts: what isn't written wears nothing, and the
//! space that it leaves is spare space, which makes cleaning cheap. An engine's pages often have a third or a half of them
//! empty or alike. See [packing].
//!
//! A store grows by zones behind the others: see [layout].
//!
//! Memory: 32 bytes a page for the map, 24 for the lifetimes, and 8 for each page in a zone.

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

/// What there is to know of it beforehand.
pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "out-of-place",
    description: "writes each version of a page to a new place, beside others that will die at the same time",
    code: 5,
    promises: Promises::ALL,
    layout: Layout::Zones,
    open: |parts| Box::pin(async { Ok(Box::new(OutOfPlace::open(parts).await?) as Box<dyn Policy>) }),
};

/// The policy.
pub(crate) struct OutOfPlace {
    shared: Rc<ZoneEngine>,
}

/// What its tasks share.
struct ZoneEngine {
    context: Rc<Context>,
    log: Rc<ZoneLog>,
    zone_blocks: u64,
    state: RefCell<EngineState>,
    ledger_turn: Turn,
    /// The last batch that the opening found.
    opened_batch: BatchNumber,
    is_growing: Cell<bool>,
}

/// What is known of the zones.
struct EngineState {
    zones: Zones,
    lifetimes: Lifetimes,
    /// What the next ledger says of extents.
    needed: NeededExtents,
    ledger: Ledger,
    rotation: Rotation,
    is_cleaning: bool,
    is_saving: bool,
    is_stopped: bool,
}

impl OutOfPlace {
    /// Opens the area of a store, and recovers it.
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
            // Where one request can do it, it does.
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

    /// Cleaning may move the page at any time and write over its place: then the checksum tells a reader.
    fn locate(&self, page: PageNumber) -> Option<Place> {
        self.shared.locate(page)
    }

    /// Its own place is wherever a page lies.
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
        // What failed to be written stays on the way for good.
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
