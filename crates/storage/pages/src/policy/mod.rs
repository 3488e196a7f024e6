//! Write policies. Each file states the promises of its policy, with reasons.

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

/// Future of a policy's operation.
pub(crate) type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, PageError>> + 'a>>;

/// Write policy. [`Store`](crate::Store) checks batches and page numbers before passing them on.
pub(crate) trait Policy {
    /// Accepts a batch: reads see it from now on, and later batches follow it. The next
    /// [`sync`](Policy::sync) makes it durable.
    fn write(&self, batch: Batch) -> Task<'_, ()>;

    /// Returns true if concurrent batches take effect in the order of their calls. Otherwise the
    /// store serialises them.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Makes accepted batches durable. Returns the number of the last one.
    fn sync(&self) -> Task<'_, BatchNumber>;

    /// Write and sync in one call, for a policy that [keeps the order](Policy::keeps_order).
    fn commit(&self, batch: Batch) -> Task<'_, BatchNumber> {
        Box::pin(async {
            self.write(batch).await?;
            self.sync().await
        })
    }

    /// Last batch found by the opening, if the policy numbers batches.
    fn opened_batch(&self) -> BatchNumber {
        BatchNumber::NONE
    }

    /// Length of a zone, if the policy has zones.
    fn zone_bytes(&self) -> Option<u64> {
        None
    }

    /// Reads a page, and checks it if its contents are known.
    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer>;

    /// Reads a page like [`read`](Policy::read), but prefers the device to memory.
    fn verify(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        self.read(page, into)
    }

    /// Place of a page's newest version on the device, for readers outside the store's thread.
    /// `None` while it is in memory or being written, and if its contents are unknown or
    /// compressed.
    fn locate(&self, _page: PageNumber) -> Option<Place> {
        None
    }

    /// Writes all accepted pages to their home places, durably.
    fn checkpoint(&self) -> Task<'_, ()>;

    /// Limits the groups of commits in flight to `groups`. Without effect for policies whose
    /// commits share only a flush.
    fn share_commits(&self, _groups: usize) {}

    /// Maximum number of changes in a batch.
    fn largest_batch(&self) -> usize;

    /// Length of an area for `pages` pages, if the area grows with the store.
    fn area_bytes(&self, _pages: u64) -> Option<u64> {
        None
    }

    /// Adopts the area of a durable label with more pages.
    fn grow<'a>(&'a self, _label: &Label) -> Task<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Pages with known, verifiable contents, in ascending order.
    fn known(&self) -> Vec<PageNumber>;

    /// Adds the policy's own statistics.
    fn stats(&self, stats: &mut Stats);

    /// Stops background tasks.
    fn stop(&self);

    /// Waits until all background tasks have ended.
    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;

    /// Marks the store as closed. Requires that everything is durable and no task is running.
    fn close(&self) -> Task<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// Parts of an open store that a policy uses.
pub(crate) struct Parts {
    pub(crate) home: Rc<Home>,
    pub(crate) options: OpenOptions,
    /// Memory for destaging, separate from that of clients.
    pub(crate) arena: Arena,
}

/// Opens and recovers the policy of an existing store.
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

/// Maximum length of an area, so that the end of a store is a valid file length.
const AREA_BYTES_MAX: u64 = 1 << 62;

/// Lengths of a ledger copy and of the area of a new store.
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

/// Memory per home page or durable checksum.
const SUM_BYTES: u64 = 4;
/// Memory per page in a zone: its place, its lifetime, and its number in the zone's list.
const ZONED_PAGE_BYTES: u64 = 64;
/// Memory per block of the staging area: the entry of a page, and a part of its extent's.
const STAGED_BLOCK_BYTES: u64 = 64;

/// Maximum memory of an open store's metadata for `pages` pages. Saturates.
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

/// Guaranteed maximum number of changes in a batch.
pub(crate) fn largest_batch(create: &CreateOptions, open: &OpenOptions) -> Result<usize, PageError> {
    let (ledger_bytes, area_bytes) = areas(create)?;
    let label = Label::plan(create, ledger_bytes, area_bytes)?;
    Ok(match create.policy.descriptor().layout {
        Layout::InPlace => usize::MAX,
        Layout::Zones => out_of_place::largest_batch(create, open),
        Layout::Staged { .. } => crate::staging::largest_group(&label),
    })
}

/// Writes the parts of a new store before its label, without a flush. Its batch numbers start after
/// `last`. Gaps between labels and ledgers become zeros, which erases labels of stores with other
/// slots.
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

/// Configuration of a staging policy; an error for other policies.
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
