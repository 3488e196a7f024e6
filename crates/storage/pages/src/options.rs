use crate::label::Label;
use crate::{PageError, PolicyKind, Promises, WriteCosts};

/// Bounds that no device comes near to, below which no size of a store overflows.
const PAGES_MAX: u64 = 1 << 46;
const BUFFER_BYTES_MAX: u64 = 1 << 48;
const SPARE_PERCENT_MAX: u64 = 10_000;
/// Of a store for which options name none.
pub(crate) const USUAL_SPARE_PERCENT: u32 = 15;
const ALIGNMENT_BYTES_MAX: u64 = 1 << 40;
const DRAIN_TASKS_MAX: u64 = 1 << 16;
/// The least size of a staging area for which options name none. A quarter of it is the largest batch.
pub(crate) const LEAST_USUAL_BUFFER_BYTES: u64 = 16 << 20;
/// A store needs memory for so many pages.
const MEMORY_PAGES_MIN: u64 = 8;

/// What a new store shall be. It can't be changed afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOptions {
    /// How it writes.
    pub policy: PolicyKind,
    /// Length of a page: 4 KiB to 64 KiB, a power of two.
    pub page_bytes: usize,
    /// How many pages it has.
    pub pages: u64,
    /// How many pages the store may have later ([`Store::grow`](crate::Store::grow)). It matters where there are
    /// [`home_sums`](CreateOptions::home_sums): their place can't be made larger, and takes a 250th of so many pages in whole blocks,
    /// so that some more may fit. No fewer than `pages`; `None`: hardly more than it has now.
    pub pages_max: Option<u64>,
    /// Size of the staging area, headers included; rounded down to whole blocks. A quarter of it is the
    /// [largest batch](CreateOptions::largest_batch). `direct` and `out-of-place` have none.
    pub buffer_bytes: u64,
    /// Space of `out-of-place` beside its pages, in percent of them. The less there is, the more is moved, and the smaller is the
    /// [largest batch](CreateOptions::largest_batch).
    pub spare_percent: u32,
    /// The checksum of every page is kept on the device from when it is written home, so that a page that isn't what was
    /// written last is an error also after the store was opened again. Takes a 250th of the pages' space. Only policies that
    /// stage every page can: `direct` and `auto` would need a flush before each page for it, and the pages of `out-of-place`
    /// have checksums anyway.
    pub home_sums: bool,
    /// The areas begin at multiples of this, and zones are as long: the drive's mapping unit, what it cleans at once. At most 1 TiB.
    pub alignment_bytes: u64,
    /// Tells this store's structures from those of an earlier one in the same place. `None` draws one from the world's clock
    /// and from what the place has held; a number of one's own must not have been used there before.
    pub id: Option<u128>,
}

impl CreateOptions {
    /// With a buffer of 16 MiB, so that a batch may have 1 000 pages of 4 KiB, aligned to 1 MiB, and an id that is drawn.
    pub fn new(policy: PolicyKind, page_bytes: usize, pages: u64) -> Self {
        let costs = WriteCosts::default();
        Self {
            policy,
            page_bytes,
            pages,
            pages_max: None,
            buffer_bytes: LEAST_USUAL_BUFFER_BYTES,
            spare_percent: USUAL_SPARE_PERCENT,
            home_sums: true,
            alignment_bytes: costs.mapping_unit_bytes,
            id: None,
        }
    }

    /// Refuses what no store can have.
    pub(crate) fn check(&self) -> Result<(), PageError> {
        Label::check_page_length(self.page_bytes as u64)?;
        for (option, got, most) in [
            ("pages", self.pages, PAGES_MAX),
            ("pages_max", self.pages_max.unwrap_or(0), PAGES_MAX),
            ("buffer_bytes", self.buffer_bytes, BUFFER_BYTES_MAX),
            ("spare_percent", self.spare_percent.into(), SPARE_PERCENT_MAX),
            ("alignment_bytes", self.alignment_bytes, ALIGNMENT_BYTES_MAX),
        ] {
            if got > most {
                return Err(PageError::Option { option, got, least: 0, most });
            }
        }
        Ok(())
    }

    /// Whether the store will have checksums of home pages.
    pub(crate) fn keeps_home_sums(&self) -> bool {
        self.home_sums && self.policy.can_keep_home_sums()
    }

    /// What a store with these options promises: its policy's, without the check of pages where it would have
    /// [`home_sums`](CreateOptions::home_sums) for it and has none.
    pub fn promises(&self) -> Promises {
        let promises = self.policy.promises();
        let lacks_sums = self.policy.can_keep_home_sums() && !self.home_sums;
        Promises { checks_pages: promises.checks_pages && !lacks_sums, ..promises }
    }

    /// How large a device the store needs.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn device_bytes(&self) -> Result<u64, PageError> {
        let (ledger_bytes, area_bytes) = crate::policy::areas(self)?;
        Ok(Label::plan(self, ledger_bytes, area_bytes)?.end_bytes())
    }

    /// Memory that an open store takes at most to know where each of its pages is and what it holds, opening included: four bytes
    /// a page, eight with [`home_sums`](CreateOptions::home_sums), 64 under `out-of-place`, and as much for each block of a
    /// staging area. It comes on top of [`OpenOptions::memory_bytes`], which a store takes twice: for its clients, and for what
    /// it destages. A [`BlockingStore`](crate::BlockingStore) takes 16 bytes more for each page that its threads read by themselves.
    pub fn index_bytes(&self) -> u64 {
        let pages_max = self.pages_max.unwrap_or(0).max(self.pages);
        crate::policy::index_bytes(self, pages_max)
    }

    /// The most changes that a batch of such a store may have for sure, before there is one: an engine's design rests on it.
    /// A store says its own, which is no smaller ([`Store::largest_batch`](crate::Store::largest_batch)).
    ///
    /// With the options of [`new`](CreateOptions::new) it is more than 1 000 pages of 4 KiB. With a staging area it is a quarter of it
    /// (`buffer_bytes`); with `out-of-place` what some spare zones hold (`alignment_bytes`, `spare_percent`), and it depends on the
    /// memory with which the store is opened; `direct` has no limit, since its batches aren't whole.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn largest_batch(&self, open: &OpenOptions) -> Result<usize, PageError> {
        crate::policy::largest_batch(self, open)
    }

    /// The same with another size of the staging area.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: u64) -> Self {
        Self { buffer_bytes, ..self }
    }
}

/// How a store is used while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// What writing costs on this device.
    pub costs: WriteCosts,
    /// Memory for pages that clients hold or that are on their way to the device; see also
    /// [`CreateOptions::index_bytes`]. Eight pages at least, under every policy. From there on no call fails for want of it, or
    /// waits for ever: what doesn't fit is mapped beside it for a moment, which takes longer.
    pub memory_bytes: usize,
    /// How many bytes of pages may be gathered in memory before they are written, as long as no client syncs; 0 lets each
    /// batch go at once.
    pub gather_bytes: usize,
    /// How many tasks destage pages at the same time; with 0 pages go home when there is no room for others.
    pub drain_tasks: usize,
    /// How many requests each of them keeps at the device when the staging area is about to run full; before that it is
    /// a quarter as many, because commits wait behind them.
    pub drain_depth: usize,
    /// How many bytes of staged pages stay in memory until they are home, so that they needn't be read back; never more
    /// than a quarter of `memory_bytes`, of which it is a part.
    pub keep_bytes: usize,
    /// `out-of-place` compresses the pages that get an eighth shorter at least. What is stored is read either way.
    pub compress: bool,
    /// `out-of-place` saves its map whenever so many bytes of zones were begun, so that an opening after a crash finds no more
    /// to read; `None`: 32 times as many as the map has, and 64 zones at least.
    pub map_interval_bytes: Option<u64>,
    /// Nothing is written, not even by recovery.
    pub read_only: bool,
    /// Where checksums of home pages are damaged ([`PageError::SumsLost`]), the pages are read unchecked until they are
    /// written again. If not, opening fails. One bad block of a store that was closed loses none, up to two million pages.
    pub forget_lost_sums: bool,
    /// Parts of policies that are left out, for benchmarks and tests alone.
    #[doc(hidden)]
    pub experiments: Experiments,
}

impl OpenOptions {
    /// Refuses options with which no store can work, and less memory than a store with such pages needs.
    pub(crate) fn check(&self, page_bytes: u64) -> Result<(), PageError> {
        let (got, most) = (self.drain_tasks as u64, DRAIN_TASKS_MAX);
        if got > most {
            return Err(PageError::Option { option: "drain_tasks", got, least: 0, most });
        }
        let (got, needed) = (self.memory_bytes as u64, MEMORY_PAGES_MIN * page_bytes);
        if got >= needed { Ok(()) } else { Err(PageError::LeastMemory { got, needed }) }
    }
}

/// What ablations and tests change in a policy to learn what a part of it is good for.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiments {
    /// Which write stream decompositors of `stable-buffer` take part: sequential, partitioned, ordered, focused.
    pub decompositors: [bool; 4],
    /// Whether a page that is written again while it is staged is destaged once. If not, its older version is destaged first.
    pub absorb: bool,
    /// `auto` stages so many pages, writes as many straight home, and so on by turns, whatever they take.
    pub turn_pages: Option<u64>,
}

impl Default for Experiments {
    /// Policies as they are.
    fn default() -> Self {
        Self { decompositors: [true; 4], absorb: true, turn_pages: None }
    }
}

impl Default for OpenOptions {
    /// 64 MiB of memory, a quarter of it for staged pages, 128 KiB gathered, two tasks with 16 requests each, compressing.
    fn default() -> Self {
        Self {
            costs: WriteCosts::default(),
            memory_bytes: 64 << 20,
            gather_bytes: 128 << 10,
            drain_tasks: 2,
            drain_depth: 16,
            keep_bytes: 16 << 20,
            compress: true,
            map_interval_bytes: None,
            read_only: false,
            forget_lost_sums: false,
            experiments: Experiments::default(),
        }
    }
}
