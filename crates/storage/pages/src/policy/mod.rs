//! The ways of writing. Each file says what its policy promises, and why.

mod auto;
mod descriptor;
mod direct;
mod doublewrite;
mod kind;
mod out_of_place;
mod stable_buffer;
mod stable_ring;

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, BufferMut};

use crate::disk::Disk;
use crate::home::{Home, Place};
use crate::label::Label;
use crate::staging::{Staging, StagingConfig};
use crate::wipe::Wiper;
use crate::{Batch, BatchNumber, CreateOptions, OpenOptions, PageError, PageNumber, Stats};

pub(crate) use descriptor::{Descriptor, Layout};
pub use kind::{PolicyKind, Promises, UnknownPolicy};
pub(crate) use out_of_place::{LEAST_SAVING, Spot, ZoneEvidence, ZoneRoom, unpack, unpacked, zone_room};

/// What a policy does takes time, and may fail.
pub(crate) type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, PageError>> + 'a>>;

/// A way of writing. [`Store`](crate::Store) has checked the batches and page numbers that it passes on.
pub(crate) trait Policy {
    /// Accepts a batch: from here on reads see it, and later batches come after it. Durable by the next
    /// [`sync`](Policy::sync).
    fn write(&self, batch: Batch) -> Task<'_, ()>;

    /// Whether batches take effect in the order of the calls when several are accepted at the same time. If not, the store
    /// lets one in after the other.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Makes durable what was accepted. Returns the number of its last batch.
    fn sync(&self) -> Task<'_, BatchNumber>;

    /// Both, of a policy that [keeps the order](Policy::keeps_order).
    fn commit(&self, batch: Batch) -> Task<'_, BatchNumber> {
        Box::pin(async {
            self.write(batch).await?;
            self.sync().await
        })
    }

    /// The last batch that the opening found, of a policy that numbers them.
    fn opened_batch(&self) -> BatchNumber {
        BatchNumber::NONE
    }

    /// Length of a zone, of a policy that has zones.
    fn zone_bytes(&self) -> Option<u64> {
        None
    }

    /// Reads a page, checked as far as its contents are known.
    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer>;

    /// Reads a page as [`read`](Policy::read) does, but from the device if it is there, whatever is in memory.
    fn verify(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        self.read(page, into)
    }

    /// Where the newest version of a page lies on the device as it is, for readers beside the store's own thread; `None`
    /// while it is in memory or being written, or where its contents aren't known or are packed.
    fn locate(&self, _page: PageNumber) -> Option<Place> {
        None
    }

    /// Brings everything that was accepted to its own place, durably.
    fn checkpoint(&self) -> Task<'_, ()>;

    /// Lets at most so many groups of commits be on their way at once; of a policy whose commits don't share more than a flush,
    /// none.
    fn share_commits(&self, _groups: usize) {}

    /// The most changes that a batch may have.
    fn largest_batch(&self) -> usize;

    /// Length of an area with room for so many pages of the store, of a policy whose area grows with them.
    fn area_bytes(&self, _pages: u64) -> Option<u64> {
        None
    }

    /// A label with more pages is durable: takes over the area that goes with them.
    fn grow<'a>(&'a self, _label: &Label) -> Task<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Pages whose contents are known and can be verified, in ascending order.
    fn known(&self) -> Vec<PageNumber>;

    /// Adds what only the policy knows.
    fn stats(&self, stats: &mut Stats);

    /// Ends what goes on in the background.
    fn stop(&self);

    /// Waits until nothing goes on in the background any more.
    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;

    /// Marks the store as closed, when all of it is durable and nothing goes on any more.
    fn close(&self) -> Task<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// What a policy makes of an open store.
pub(crate) struct Parts {
    pub(crate) home: Rc<Home>,
    pub(crate) options: OpenOptions,
    /// For pages on their way from the staging area home; the clients' memory is another.
    pub(crate) arena: Arena,
}

/// Opens the policy of a store that is there, and recovers what it holds.
pub(crate) async fn open(parts: Parts) -> Result<Box<dyn Policy>, PageError> {
    (parts.home.label().policy.descriptor().open)(parts).await
}

/// Opens a policy that stages every page.
fn open_staging(parts: Parts) -> Task<'static, Box<dyn Policy>> {
    Box::pin(async {
        let config = staging_config(parts.home.label().policy, parts.home.label(), &parts.options)?;
        Ok(Box::new(Staging::open(parts, config).await?) as Box<dyn Policy>)
    })
}

/// No area is longer, so that the end of a store is a number of bytes that a file can have.
const AREA_BYTES_MAX: u64 = 1 << 62;

/// Bytes of a ledger copy and of the staging area that a new store needs.
pub(crate) fn areas(options: &CreateOptions) -> Result<(u64, u64), PageError> {
    options.check()?;
    let (ledger_bytes, area_bytes) = match options.policy.descriptor().layout {
        Layout::InPlace => (0, 0),
        Layout::Zones => out_of_place::areas(options),
        Layout::Staged { .. } => crate::staging::areas(options)?,
    };
    if area_bytes > AREA_BYTES_MAX {
        let mend = "take fewer pages, or a smaller `spare_percent`; no device is so large";
        return Err(PageError::TooSmall { needed_bytes: area_bytes, capacity_bytes: AREA_BYTES_MAX, mend });
    }
    Ok((ledger_bytes, area_bytes))
}

/// Of a page in its own place, or of one of the durable checksums.
const SUM_BYTES: u64 = 4;
/// Of a page in a zone: its place, its lifetime, and its number among its zone's.
const ZONED_PAGE_BYTES: u64 = 64;
/// Of a block of the staging area: the entry of a page, and a part of its extent's.
const STAGED_BLOCK_BYTES: u64 = 64;

/// What an open store of so many pages knows of them takes at most. Beyond 64 bits it is as much as there can be.
pub(crate) fn index_bytes(options: &CreateOptions, pages: u64) -> u64 {
    match options.policy.descriptor().layout {
        Layout::InPlace => pages.saturating_mul(SUM_BYTES),
        Layout::Zones => pages.saturating_mul(ZONED_PAGE_BYTES),
        Layout::Staged { .. } => {
            let sums = if options.keeps_home_sums() { 2 } else { 1 };
            let staged_blocks = options.buffer_bytes / crate::BLOCK_BYTES as u64;
            pages.saturating_mul(sums * SUM_BYTES).saturating_add(staged_blocks * STAGED_BLOCK_BYTES)
        }
    }
}

/// The most changes that a batch may have for sure.
pub(crate) fn largest_batch(create: &CreateOptions, open: &OpenOptions) -> Result<usize, PageError> {
    let (ledger_bytes, area_bytes) = areas(create)?;
    let label = Label::plan(create, ledger_bytes, area_bytes)?;
    Ok(match create.policy.descriptor().layout {
        Layout::InPlace => usize::MAX,
        Layout::Zones => out_of_place::largest_batch(create, open),
        Layout::Staged { .. } => crate::staging::largest_group(&label),
    })
}

/// Writes what a new store needs before its label, not flushed. Its batches have greater numbers than `last`. What lies between
/// labels and ledgers becomes zeros, so that no label of a store with other slots is left there.
pub(crate) async fn format(
    disk: &Rc<Disk>,
    label: &Label,
    options: &CreateOptions,
    last: BatchNumber,
) -> Result<(), PageError> {
    let wiper = Wiper::new()?;
    for range in label.rest_of_slots() {
        wiper.wipe(disk, range).await?;
    }
    match label.policy.descriptor().layout {
        Layout::InPlace => Ok(()),
        Layout::Zones => out_of_place::format(disk, label, options, last).await,
        Layout::Staged { .. } => crate::staging::format(disk, label, last).await,
    }
}

/// How a staging policy differs from the others; an error for one that stages nothing.
pub(crate) fn staging_config(
    kind: PolicyKind,
    label: &Label,
    options: &OpenOptions,
) -> Result<StagingConfig, PageError> {
    match kind.descriptor().layout {
        Layout::Staged { config, .. } => Ok(config(label, options)),
        Layout::InPlace | Layout::Zones => {
            let expected = "one with a staging area".into();
            Err(PageError::Policy { got: kind.to_string(), expected })
        }
    }
}
