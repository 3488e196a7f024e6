//! Time per page under each policy, as the sum of its requests. Clients wait until their commits
//! are durable, while destaging runs concurrently. The time per page is therefore the longer of the
//! client's wait and the device's busy time, destaging included.

use super::cleaning::{alive_when_cleaned, moved_by_page};
use super::{ExpectedUse, PageTimes, PredictedPolicy};
use crate::policy::{LEAST_SAVING, ZoneRoom, zone_room};
use crate::{BLOCK_BYTES, CreateOptions, OpenOptions, PolicyKind};

/// Fraction of a staging area reclaimed by two flushes and a ledger. `doublewrite` destages at
/// once, so most of its area is reclaimed together. This and all constants not marked as measured
/// are estimates.
const RECLAIMED_AT_ONCE: f64 = 0.5;
/// Same fraction for policies that keep staged pages for long.
const RECLAIMED_SHARE: f64 = 1.0 / 8.0;
/// Fraction of a ring that holds pages waiting for others of their mapping unit.
const WAITING_SHARE: f64 = 0.8;
/// Cost of writing to scattered free slots in `stable-buffer`, relative to a log: 2.6 written bytes
/// per byte where a ring writes 2.0 (measured).
const PIECES: f64 = 1.6;
/// Fraction of pages that `stable-buffer` keeps together, relative to a ring: its slots become free
/// one by one (measured).
const KEPT_SHARE: f64 = 0.5;
/// Overhead of `auto`'s trials. Excludes the initial trials of a short run, and the delay in
/// switching ways.
const TRIALS: f64 = 1.03;
/// Maximum compressed share of a page. Longer results are stored uncompressed.
const COMPRESSED_SHARE_MAX: f64 = 1.0 - 1.0 / LEAST_SAVING as f64;
/// Minimum compressed share: LZ4's format encodes at most 255 bytes per byte.
const COMPRESSED_SHARE_MIN: f64 = 1.0 / 255.0;

/// Prediction for one policy.
pub(super) fn predict(
    create: &CreateOptions,
    open: &OpenOptions,
    times: &PageTimes,
    expected: &ExpectedUse,
) -> PredictedPolicy {
    let living_pages = create.pages as f64 * f64::from(expected.fill_percent.min(100)) / 100.0;
    let times = times.within(living_pages * create.page_bytes as f64);
    let work = Work { create, open, times, expected, living_pages };
    let (page_ns, moved_by_page) = match create.policy {
        PolicyKind::Direct => (work.direct(), 0.0),
        PolicyKind::DoubleWrite => (work.doublewrite(), 0.0),
        PolicyKind::StableBuffer => (work.stable_buffer(), 0.0),
        PolicyKind::StableRing => (work.stable_ring(), 0.0),
        PolicyKind::OutOfPlace => work.out_of_place(),
        PolicyKind::Auto => (work.direct().min(work.stable_ring()) * TRIALS, 0.0),
    };
    PredictedPolicy { policy: create.policy, promises: create.promises(), page_ns, moved_by_page }
}

struct Work<'a> {
    create: &'a CreateOptions,
    open: &'a OpenOptions,
    times: PageTimes,
    expected: &'a ExpectedUse,
    /// Number of pages with contents.
    living_pages: f64,
}

impl Work<'_> {
    /// Concurrent page writes of a batch, and a flush per sync, shared by writers.
    fn direct(&self) -> f64 {
        let under_way = self.expected.batch_pages.max(1.0) * self.writers();
        self.times.random_at(under_way) + self.sync_ns()
    }

    /// One write to the staging area, and one home at once. The flush of a batch includes the home
    /// writes of the previous batch, and counts as two.
    fn doublewrite(&self) -> f64 {
        let home_ns = self.times.random_at(self.group_pages());
        self.staged(1.0, 2.0 * self.sync_ns(), home_ns) + self.reclaim_ns(RECLAIMED_AT_ONCE)
    }

    /// The first page of a mapping unit takes the time of a random write, and the others of the
    /// same sweep that of a write in a small area.
    fn stable_ring(&self) -> f64 {
        self.staged(1.0, self.sync_ns(), self.home_ns(1.0) + self.read_back_ns())
            + self.reclaim_ns(RECLAIMED_SHARE)
    }

    fn stable_buffer(&self) -> f64 {
        let home_ns = self.home_ns(KEPT_SHARE) + self.read_back_ns();
        self.staged(PIECES, PIECES * self.sync_ns(), home_ns) + self.reclaim_ns(RECLAIMED_SHARE)
    }

    /// A staged page, with `pieces` times the time of an append, while others are destaged.
    fn staged(&self, pieces: f64, sync_ns: f64, home_ns: f64) -> f64 {
        let (pages, busy_share) = (self.group_pages(), self.times.busy_share());
        let client_ns = pieces * self.append_ns(pages, 1.0) + sync_ns;
        let busy_ns = pieces * self.append_busy_ns(pages, 1.0) + sync_ns * busy_share;
        client_ns.max(busy_ns + home_ns)
    }

    /// An appended page of a batch. Batches overlap where nothing waits for them.
    fn append_ns(&self, pages: f64, stored: f64) -> f64 {
        match self.expected.sync_pages {
            Some(_) => self.extent_ns(pages, stored, 1.0),
            None => self.append_busy_ns(pages, stored),
        }
    }

    fn append_busy_ns(&self, pages: f64, stored: f64) -> f64 {
        self.extent_ns(pages, stored, self.times.busy_share())
    }

    /// One sequential write, and further ones for pages moved by cleaning.
    fn out_of_place(&self) -> (f64, f64) {
        let ZoneRoom { pages, zone_pages, piece_pages } = zone_room(self.create, self.open);
        let stored = self.stored_share();
        let share = self.living_pages * stored / pages as f64;
        let (alive, moved) = (alive_when_cleaned(share), moved_by_page(share));
        let in_zone = zone_pages as f64 / stored;
        // Live pages of a zone are rewritten in pieces.
        let moved_together = (piece_pages as f64).min(in_zone * alive).max(1.0);
        let move_ns = self.times.read_deep_ns + self.append_busy_ns(moved_together, stored);
        let ledger_ns = 2.0 * self.times.flush_ns / (in_zone * (1.0 - alive)).max(1.0);
        let append_ns = self.append_ns(self.group_pages(), stored);
        (append_ns + self.sync_ns() + moved * move_ns + ledger_ns, moved)
    }

    /// Time per page of an extent with `pages` pages, stored to the fraction `stored`. An extent
    /// consists of whole blocks and has a header and a request, of which `request_share` counts.
    fn extent_ns(&self, pages: f64, stored: f64, request_share: f64) -> f64 {
        let block_pages = self.header_pages();
        let stored_pages =
            if stored < 1.0 { (pages * stored / block_pages).ceil() * block_pages } else { pages };
        self.times.append_ns(stored_pages, block_pages, request_share) * stored_pages / pages
    }

    fn writers(&self) -> f64 {
        f64::from(self.expected.writers.max(1))
    }

    fn stored_share(&self) -> f64 {
        let left = 1.0 - f64::from(self.expected.compressible_percent.min(100)) / 100.0;
        if self.open.compress && left <= COMPRESSED_SHARE_MAX { left.max(COMPRESSED_SHARE_MIN) } else { 1.0 }
    }

    fn header_pages(&self) -> f64 {
        BLOCK_BYTES as f64 / self.create.page_bytes as f64
    }

    /// Share of a flush, divided by the pages of all writers.
    fn sync_ns(&self) -> f64 {
        self.expected.sync_pages.map_or(0.0, |pages| self.times.flush_ns / (pages.max(1.0) * self.writers()))
    }

    /// Pages written to a log together: those gathered, or those of a sync.
    fn group_pages(&self) -> f64 {
        let batch = self.expected.batch_pages.max(1.0);
        let gathered = (self.open.gather_bytes as f64 / self.create.page_bytes as f64).max(batch);
        self.expected.sync_pages.map_or(gathered, |pages| (pages.max(1.0) * self.writers()).min(gathered))
    }

    /// Capacity of a staging area in pages.
    fn staged_pages(&self) -> f64 {
        let with_header = 1.0 + self.header_pages() / self.group_pages();
        (self.create.buffer_bytes as f64 / self.create.page_bytes as f64 / with_header).max(1.0)
    }

    /// Two flushes and a ledger per `share` of the staging area.
    fn reclaim_ns(&self, share: f64) -> f64 {
        2.0 * (self.times.flush_ns + self.times.request_ns) / (self.staged_pages() * share).max(1.0)
    }

    fn home_ns(&self, kept_share: f64) -> f64 {
        let unit_pages = (self.create.alignment_bytes as f64 / self.create.page_bytes as f64).max(1.0);
        let units = (self.living_pages / unit_pages).max(1.0);
        let others = self.staged_pages() * WAITING_SHARE * kept_share / units;
        let anywhere = self.times.random_deep_ns;
        let near = self.times.focused_ns.min(anywhere);
        (anywhere + others * near) / (1.0 + others)
    }

    /// Reads of pages that don't stay in memory until they are destaged.
    fn read_back_ns(&self) -> f64 {
        let kept = self.open.keep_bytes.min(self.open.memory_bytes / 4) as f64;
        (1.0 - kept / (self.create.buffer_bytes as f64).max(1.0)).max(0.0) * self.times.read_deep_ns
    }
}
