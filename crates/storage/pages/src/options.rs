use crate::label::Label;
use crate::{PageError, PolicyKind, Promises, WriteCosts};

/// Bounds far beyond any device, which prevent overflow in sizes.
const PAGES_MAX: u64 = 1 << 46;
const BUFFER_BYTES_MAX: u64 = 1 << 48;
const SPARE_PERCENT_MAX: u64 = 10_000;
/// Default spare zones in percent.
pub(crate) const USUAL_SPARE_PERCENT: u32 = 15;
const ALIGNMENT_BYTES_MAX: u64 = 1 << 40;
const DRAIN_TASKS_MAX: u64 = 1 << 16;
/// Minimum default length of a staging area. The largest batch is a quarter of it.
pub(crate) const LEAST_USUAL_BUFFER_BYTES: u64 = 16 << 20;
/// Minimum memory of a store in pages.
const MEMORY_PAGES_MIN: u64 = 8;

/// Options to create a store. They never change afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOptions {
    /// Write policy.
    pub policy: PolicyKind,
    /// Length of a page in bytes: a power of two from 4 KiB to 64 KiB.
    pub page_bytes: usize,
    /// Number of pages.
    pub pages: u64,
    /// Minimum number of pages to which the store may later grow
    /// ([`Store::grow`](crate::Store::grow)), at least `pages`; `None` means hardly more than now.
    /// Applies with [`home_sums`](CreateOptions::home_sums), whose area can't grow: it takes a
    /// 250th of the pages' length in whole blocks, which may fit a few more.
    pub pages_max: Option<u64>,
    /// Length of the staging area including headers, rounded down to whole blocks. The [largest
    /// batch](CreateOptions::largest_batch) is a quarter of it. Unused by `direct` and
    /// `out-of-place`.
    pub buffer_bytes: u64,
    /// Spare space of `out-of-place` in percent of its pages. Less space causes more moves, and a
    /// smaller [largest batch](CreateOptions::largest_batch).
    pub spare_percent: u32,
    /// Stores the checksum of every destaged page on the device, which detects wrong contents also
    /// in later openings. Takes a 250th of the pages' space. Only policies that stage every page
    /// support it: `direct` and `auto` would need a flush before each page, and the pages of
    /// `out-of-place` always have checksums.
    pub home_sums: bool,
    /// Alignment of areas and length of zones: the drive's mapping unit, which it cleans at once.
    /// At most 1 TiB.
    pub alignment_bytes: u64,
    /// Id that distinguishes this store's structures from those of earlier stores in the same
    /// place. `None` derives one from the world's clock and the previous contents; an explicit id
    /// must never have been used there.
    pub id: Option<u128>,
}

impl CreateOptions {
    /// Options with a staging area of 16 MiB, which permits batches of 1 000 pages of 4 KiB,
    /// alignment to 1 MiB, and a derived id.
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

    /// Refuses impossible options.
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

    /// Returns true if the store will have checksums of home pages.
    pub(crate) fn keeps_home_sums(&self) -> bool {
        self.home_sums && self.policy.can_keep_home_sums()
    }

    /// Guarantees of a store with these options: those of its policy, without the check of pages if
    /// [`home_sums`](CreateOptions::home_sums) is needed for it and not set.
    pub fn promises(&self) -> Promises {
        let promises = self.policy.promises();
        let lacks_sums = self.policy.can_keep_home_sums() && !self.home_sums;
        Promises { checks_pages: promises.checks_pages && !lacks_sums, ..promises }
    }

    /// Length of the device that the store needs.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn device_bytes(&self) -> Result<u64, PageError> {
        let (ledger_bytes, area_bytes) = crate::policy::areas(self)?;
        Ok(Label::plan(self, ledger_bytes, area_bytes)?.end_bytes())
    }

    /// Maximum memory of an open store for places and contents of pages, opening included: four
    /// bytes per page, eight with [`home_sums`](CreateOptions::home_sums), 64 under `out-of-place`,
    /// and 64 for each block of a staging area. [`OpenOptions::memory_bytes`] comes in addition,
    /// twice: for clients, and for destaging. A [`BlockingStore`](crate::BlockingStore) needs
    /// another 16 bytes for each page that its threads read.
    pub fn index_bytes(&self) -> u64 {
        let pages_max = self.pages_max.unwrap_or(0).max(self.pages);
        crate::policy::index_bytes(self, pages_max)
    }

    /// Guaranteed maximum number of changes in a batch, for the design of an engine before a store
    /// exists. An open store reports its own, which is at least as large
    /// ([`Store::largest_batch`](crate::Store::largest_batch)).
    ///
    /// More than 1 000 pages of 4 KiB with the options of [`new`](CreateOptions::new). With a
    /// staging area it is a quarter of that (`buffer_bytes`). With `out-of-place` it is the
    /// capacity of some spare zones (`alignment_bytes`, `spare_percent`), and depends on the memory
    /// of the open store. `direct` has no limit, as its batches aren't atomic.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn largest_batch(&self, open: &OpenOptions) -> Result<usize, PageError> {
        crate::policy::largest_batch(self, open)
    }

    /// Sets the length of the staging area.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: u64) -> Self {
        Self { buffer_bytes, ..self }
    }
}

/// Options of an open store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// Costs of writes on this device.
    pub costs: WriteCosts,
    /// Memory for pages held by clients or in flight, at least eight pages; see also
    /// [`CreateOptions::index_bytes`]. From this minimum on no call fails or waits forever for lack
    /// of memory: additional memory is allocated temporarily, which takes longer.
    pub memory_bytes: usize,
    /// Bytes of pages gathered in memory before they are written, unless a client syncs; 0 writes
    /// each batch at once.
    pub gather_bytes: usize,
    /// Number of concurrent destaging tasks; with 0 pages are destaged only to make room.
    pub drain_tasks: usize,
    /// Requests in flight per task when the staging area is nearly full. Otherwise it is a quarter
    /// of that, as commits wait behind them.
    pub drain_depth: usize,
    /// Bytes of staged pages kept in memory until they are destaged, which saves reading them back.
    /// At most a quarter of `memory_bytes`, which includes them.
    pub keep_bytes: usize,
    /// Compresses pages under `out-of-place` that shrink by at least an eighth. Reads support both
    /// forms regardless.
    pub compress: bool,
    /// Bytes of begun zones after which `out-of-place` saves its map, which limits the reads of an
    /// opening after a crash; `None` means 32 times the map's length, and at least 64 zones.
    pub map_interval_bytes: Option<u64>,
    /// Writes nothing, not even during recovery.
    pub read_only: bool,
    /// Reads pages unchecked if their checksums are damaged ([`PageError::SumsLost`]), until they
    /// are rewritten. Otherwise the opening fails. A bad block in a closed store never loses
    /// checksums, up to two million pages.
    pub forget_lost_sums: bool,
    /// Ablations of policies, only for benchmarks and tests.
    #[doc(hidden)]
    pub experiments: Experiments,
}

impl OpenOptions {
    /// Refuses unusable options, and less memory than a store with such pages needs.
    pub(crate) fn check(&self, page_bytes: u64) -> Result<(), PageError> {
        let (got, most) = (self.drain_tasks as u64, DRAIN_TASKS_MAX);
        if got > most {
            return Err(PageError::Option { option: "drain_tasks", got, least: 0, most });
        }
        let (got, needed) = (self.memory_bytes as u64, MEMORY_PAGES_MIN * page_bytes);
        if got >= needed { Ok(()) } else { Err(PageError::LeastMemory { got, needed }) }
    }
}

/// Ablations of policies that measure the contribution of a part.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiments {
    /// Active write stream decompositors of `stable-buffer`: sequential, partitioned, ordered,
    /// focused.
    pub decompositors: [bool; 4],
    /// True if a page rewritten while staged is destaged once. Otherwise its older version is
    /// destaged first.
    pub absorb: bool,
    /// Pages after which `auto` alternates between staging and direct writes, regardless of their
    /// times.
    pub turn_pages: Option<u64>,
}

impl Default for Experiments {
    /// Policies without ablations.
    fn default() -> Self {
        Self { decompositors: [true; 4], absorb: true, turn_pages: None }
    }
}

impl Default for OpenOptions {
    /// 64 MiB of memory, a quarter of it for staged pages, 128 KiB gathered, two tasks with 16
    /// requests each, compression.
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
