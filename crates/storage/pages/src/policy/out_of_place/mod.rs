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
//! Memory: 32 bytes a page for the map, 24 for the lifetimes, and 8 for each page in a zone.

mod clean;
mod durable;
mod format;
mod header;
mod ledger;
mod lifetimes;
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

use nandle_io::{Arena, Buffer, BufferMut};
use rustc_hash::FxHashMap;

pub(super) use self::format::{areas, format, largest_batch};
use self::ledger::Ledger;
use self::lifetimes::Lifetimes;
use self::map::Map;
use self::needed::NeededExtents;
use self::zones::Zones;
use super::{Descriptor, Layout, Parts, Policy, Promises, Task};
use crate::disk::Disk;
use crate::extents::{Chain, Gather, Rotation};
use crate::label::Label;
use crate::signal::{Signal, Turn};
use crate::{Batch, OpenOptions, PageError, PageNumber, Stats};

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
    disk: Rc<Disk>,
    label: Label,
    options: OpenOptions,
    arena: Arena,
    zone_blocks: u64,
    state: RefCell<EngineState>,
    /// Something in the state that others may wait for is different.
    changed: Signal,
    ledger_turn: Turn,
    is_flushing_ahead: Cell<bool>,
    /// How many callers have sent what is to be durable, and wait for that.
    commits: Cell<usize>,
}

/// A commit that waits until it is durable, as long as it lives.
struct Commit<'a>(&'a ZoneEngine);

impl<'a> Commit<'a> {
    fn begin(shared: &'a ZoneEngine) -> Self {
        shared.commits.update(|commits| commits + 1);
        Self(shared)
    }
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        self.0.commits.update(|commits| commits - 1);
        self.0.changed.notify();
    }
}

struct EngineState {
    chain: Chain,
    map: Map,
    zones: Zones,
    lifetimes: Lifetimes,
    /// Batches that will be the next group.
    gather: Gather,
    /// How many groups were taken from there.
    groups_sent: u64,
    /// Contents that are being written, by page, with the sequence of their extent.
    on_the_way: FxHashMap<PageNumber, (u64, Buffer)>,
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

impl ZoneEngine {
    fn corrupt(&self, what: &'static str, block: u64) -> PageError {
        PageError::Corrupt { what, offset_bytes: self.label.offset_of(block) }
    }
}

impl Policy for OutOfPlace {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        Box::pin(write::accept(&self.shared, batch))
    }

    fn sync(&self) -> Task<'_, ()> {
        Box::pin(async {
            let target = write::push_together(&self.shared).await?;
            let _commit = Commit::begin(&self.shared);
            self.shared.make_durable(target).await
        })
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.shared.read(page, into))
    }

    /// Its own place is wherever a page lies.
    fn checkpoint(&self) -> Task<'_, ()> {
        self.sync()
    }

    fn largest_batch(&self) -> usize {
        write::largest_group(&self.shared)
    }

    fn known(&self) -> Vec<PageNumber> {
        let state = self.shared.state.borrow();
        let mut pages: Vec<_> = state.map.pages().chain(state.gather.pages()).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn stats(&self, stats: &mut Stats) {
        stats.staged_pages = self.shared.state.borrow().gather.len() as u64;
    }

    fn stop(&self) {
        self.shared.state.borrow_mut().is_stopped = true;
    }

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        let shared = &self.shared;
        // What failed to be written stays on the way for good.
        let has_ended = || {
            let state = shared.state.borrow();
            !state.is_cleaning
                && !state.is_saving
                && (state.in_flight() == 0 || shared.disk.check_writable().is_err())
        };
        Box::pin(async move { shared.changed.wait(|| has_ended().then_some(())).await })
    }

    fn close(&self) -> Task<'_, ()> {
        Box::pin(self.shared.save_for_good())
    }
}
