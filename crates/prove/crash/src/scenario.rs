// long: every kind of history side by side, as a seed draws one of them

use nandle_model::media::{AfterDiscard, PowerCut, Tearing, WriteCache};
use nandle_pages::{CreateOptions, Experiments, OpenOptions, PageError, PolicyKind};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Parameters of a history, drawn from a seed: the store, its device, its clients and the failures.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for itself, and is named where it is given")]
pub struct Scenario {
    /// Seed of all other fields.
    pub seed: u64,
    /// Write policy.
    pub policy: PolicyKind,
    /// Length of a page.
    pub page_bytes: usize,
    /// Number of pages.
    pub pages: u64,
    /// Maximum number of pages after growth.
    pub pages_max: u64,
    /// Pages that clients use.
    pub used: Used,
    /// Size of the staging area.
    pub buffer_bytes: u64,
    /// Zones of an out-of-place store.
    pub zones: Zones,
    /// Bytes of batches gathered in memory before they are written.
    pub gather_bytes: usize,
    /// Tasks that destage pages.
    pub drain_tasks: usize,
    /// Bytes of staged pages kept in memory.
    pub keep_bytes: usize,
    /// Pages after which `auto` switches its policy; `None` leaves the choice to `auto`.
    pub turn_pages: Option<u64>,
    /// Concurrent clients, each with its own pages.
    pub clients: usize,
    /// Steps of each client between two openings.
    pub steps: usize,
    /// Openings in one life, between two power cuts.
    pub sessions: usize,
    /// Percentage of page writes that go to a client's few favourite pages.
    pub hot_percent: u32,
    /// Timing of the device.
    pub timing: Timing,
    /// True if the device is a mirror. Its two legs lose power together, and each has its own
    /// survivors.
    pub is_mirrored: bool,
    /// True if a mirror's legs are resynchronised after a power cut. False only in the test that
    /// needs it.
    pub resynchronises: bool,
    /// Length of the device's logical block.
    pub logical_block_bytes: u32,
    /// Write cache of the device.
    pub cache: WriteCache,
    /// Contents that the device returns for discarded blocks.
    pub after_discard: AfterDiscard,
    /// Units at which writes tear.
    pub tearing: Tearing,
    /// Choices of survivors at each power cut.
    pub choices: u32,
    /// Failures during the first life.
    pub trouble: Trouble,
    /// Successive power cuts, each in a short life of its own; 0 explores every power cut of a
    /// single life.
    pub rounds: usize,
    /// Percentage of a client's steps that write a batch without a sync.
    pub write_percent: u32,
    /// Maximum number of changes in a batch. With equal lengths a batch may exactly overwrite a
    /// lost one.
    pub changes_max: u64,
    /// Lengths of batches below that maximum.
    pub batches: Batches,
    /// Percentage of changes that discard a page.
    pub discard_percent: u32,
    /// True if some pages are compressible; otherwise none are.
    pub compresses: bool,
    /// Memory of the open store, in pages.
    pub memory_pages: usize,
    /// True if the first of the [`rounds`](Self::rounds) durably writes every page before its power
    /// cut.
    pub fills_first: bool,
    /// Additional power cuts checked in each round.
    pub looks: u64,
    /// True if the first used page is the header.
    pub sets_headers: bool,
    /// True if clients also read many pages of one state, and drop calls before they return.
    pub mixes_calls: bool,
}

/// Numbers of changes in batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batches {
    /// Any number, up to a fraction of the staging area.
    UpToAPart,
    /// One, a few, or the maximum.
    UpToTheLargest,
}

/// Used pages of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Used {
    /// All pages.
    All,
    /// A few at the ends of each [chunk](CHUNK_PAGES) and one inside, which limits the cost of a
    /// large store.
    AtChunks,
}

/// Zones of an out-of-place store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zones {
    /// The shortest zones with a few to spare.
    Few,
    /// Longer zones, enough of them to reserve several.
    Many,
    /// Zones of at least this length in bytes, nearly full, with the minimum of spare ones.
    NearlyFull(u64),
}

/// Timing of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Random order, drawn from the seed.
    Jumbled,
    /// Timing of a drive in the library.
    Drive(&'static str),
}

/// Failures during the first life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// None.
    None,
    /// Occasional failures of flushes.
    FailedFlush,
    /// Occasional failures of writes, which write some of their blocks.
    FailedWrite,
    /// Occasional lack of space.
    NoSpace,
}

/// Pages per chunk of checksums of home pages, by the format.
pub const CHUNK_PAGES: u64 = 1013;
/// Used pages of each chunk.
const USED_OF_CHUNK: [u64; 6] = [0, 1, 2, 500, CHUNK_PAGES - 2, CHUNK_PAGES - 1];
/// Zone length in stores with [many zones](Zones::Many). Two zones are reserved, as the volatile
/// writes exceed one.
const LONG_ZONE_BYTES: u64 = 32 * 4096;
const MANY_ZONES: u64 = 32;
/// Period of a policy's histories with mixed calls.
const MIXING: u64 = 4;
/// Additional power cuts checked in each round of a whole life.
const LOOKS: u64 = 6;
/// Parameters of nearly full stores.
const SHORT_ZONE_BYTES: u64 = 128 << 10;
const FULL_PAGES: u64 = 450;
const ZONE_BYTES: [u64; 5] = [4096, 80 << 10, SHORT_ZONE_BYTES, SHORT_ZONE_BYTES, 256 << 10];
/// Cycle of a policy's histories: three of a small store, one of a growing store, one of a growing
/// or large store, one whole life.
const KINDS_OF_HISTORIES: u64 = 6;
/// Period of large stores, which take long.
const CYCLES_PER_LARGE: u64 = 4;

const DRIVES: [&str; 3] = ["x25-e-64", "mtron-16", "nvme-tlc"];

impl Scenario {
    /// Scenario of a seed. Policies take turns, so that all have equally many histories.
    pub fn of(seed: u64) -> Self {
        let policies = PolicyKind::ALL;
        let policy = of_turn(&policies, seed);
        let round = seed / policies.len() as u64;
        let cycle = round / KINDS_OF_HISTORIES;
        match round % KINDS_OF_HISTORIES {
            0..=2 => Self::with_policy(seed, policy),
            3 => Self::growing(seed, policy),
            4 if cycle.is_multiple_of(CYCLES_PER_LARGE) => Self::large(seed, policy),
            4 => Self::growing_life(seed, policy),
            _ if policy == PolicyKind::OutOfPlace && cycle % 2 == 1 => Self::crowded(seed),
            _ => Self::whole_life(seed, policy),
        }
    }

    /// A store that grows during its clients' work, usually past the ends of chunks, otherwise by a
    /// few pages.
    pub fn growing(seed: u64, policy: PolicyKind) -> Self {
        Self::with_policy(seed, policy).grown(seed)
    }

    /// A growing store through many power cuts.
    pub fn growing_life(seed: u64, policy: PolicyKind) -> Self {
        Self::whole_life(seed, policy).grown(seed)
    }

    fn grown(self, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0009_4011);
        let of = &mut random;
        let is_crowded = self.zones != Zones::Few;
        if is_crowded || self.page_bytes > 8192 || of.random_ratio(1, 4) {
            return Self { pages_max: self.pages + of.random_range(1..=24), ..self };
        }
        let chunks = of.random_range(2..=4);
        Self {
            pages: of.random_range(8..=chunks * CHUNK_PAGES - 1),
            pages_max: chunks * CHUNK_PAGES,
            used: Used::AtChunks,
            ..self
        }
    }

    /// Many short lives of a store with several chunks of checksums. Every page is written first.
    /// In half of the histories the staging area holds all of them, so that one checkpoint rewrites
    /// all checksums.
    pub fn large(seed: u64, policy: PolicyKind) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x01a2_9e00);
        let of = &mut random;
        let pages = of.random_range(CHUNK_PAGES + 1..=2 * CHUNK_PAGES + 40);
        let buffer_pages = pick(of, &[200, pages + pages / 8]);
        Self {
            page_bytes: 4096,
            pages,
            pages_max: pages + pick(of, &[0, 0, 1, 100]),
            used: Used::All,
            zones: Zones::Few,
            buffer_bytes: 4096 * buffer_pages,
            batches: Batches::UpToTheLargest,
            changes_max: u64::MAX,
            memory_pages: 4096,
            fills_first: true,
            rounds: 8,
            looks: 1,
            ..Self::whole_life(2 * seed, policy)
        }
    }

    /// Many short lives of one store, of one policy; see [`rounds`](Self::rounds).
    pub fn whole_life(seed: u64, policy: PolicyKind) -> Self {
        let scenario = Self { trouble: Trouble::None, is_mirrored: false, ..Self::with_policy(seed, policy) };
        let scenario = Self { rounds: 32, steps: 4, sessions: 1, ..scenario };
        // Half have several clients with short batches, which increases the requests in flight at a
        // power cut.
        let scenario = match seed / 2 % 2 {
            0 => scenario,
            _ => Self { clients: 3, changes_max: 1, write_percent: 60, gather_bytes: 0, ..scenario },
        };
        if policy != PolicyKind::OutOfPlace || seed.is_multiple_of(2) {
            return scenario;
        }
        Self {
            zones: Zones::NearlyFull(SHORT_ZONE_BYTES),
            page_bytes: 4096,
            pages: FULL_PAGES,
            pages_max: FULL_PAGES,
            buffer_bytes: 4096 * (64 + seed % 97),
            steps: 30,
            ..scenario
        }
    }

    /// A whole life of an `out-of-place` store as full as possible. Every page is written, and
    /// zones are as short and few as creation permits. Batches have one change or the maximum.
    /// Cleaning and interrupted openings must manage with the little space left free.
    pub fn crowded(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xc20d_ed00);
        let of = &mut random;
        let zones = Zones::NearlyFull(pick(of, &ZONE_BYTES));
        let pages = FULL_PAGES + pick(of, &[0, 0, 15, 30, 60]);
        Self {
            seed,
            zones,
            page_bytes: 4096,
            pages,
            pages_max: pages,
            gather_bytes: pick(of, &[0, 0, 64 << 10]),
            clients: pick(of, &[1, 1, 2, 3]),
            steps: of.random_range(20..=80),
            hot_percent: pick(of, &[0, 0, 20, 80]),
            batches: Batches::UpToTheLargest,
            changes_max: u64::MAX,
            discard_percent: pick(of, &[0, 5, 40]),
            compresses: of.random_ratio(1, 4),
            memory_pages: pick(of, &[64, 256, 4096]),
            timing: Timing::Jumbled,
            fills_first: true,
            looks: 1,
            ..Self::whole_life(2 * seed, PolicyKind::OutOfPlace)
        }
    }

    // long: one draw for each field, in an order that seeds depend on
    /// Scenario of a seed for one policy.
    pub fn with_policy(seed: u64, policy: PolicyKind) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let of = &mut random;
        // Mostly small pages: large ones run the same code and take longer.
        let page_bytes = pick(of, &[4096, 4096, 4096, 4096, 4096, 8192, 8192, 16_384, 65_536]);
        let least_blocks = 8 * (1 + page_bytes as u64 / 4096);
        let is_small = page_bytes < 16_384;
        let clients = pick(of, &[1, 1, 2, 3]);
        let steps = if is_small { of.random_range(16..=36) } else { 12 };
        let sessions = pick(of, &[1, 1, 2, 3]);
        let pages = if is_small { of.random_range(8..=24) } else { 6 };
        Self {
            seed,
            policy,
            page_bytes,
            pages,
            pages_max: pages,
            used: Used::All,
            buffer_bytes: 4096 * of.random_range(least_blocks..=least_blocks * 2),
            gather_bytes: pick(of, &[0, 0, 0, 4 * page_bytes]),
            drain_tasks: of.random_range(1..=2),
            // By its own choice `auto` rarely switches in so few steps.
            turn_pages: (!(seed / 6).is_multiple_of(4)).then_some(1 + seed / 24 % 16),
            clients,
            steps: steps / clients / sessions + 1,
            sessions,
            hot_percent: pick(of, &[20, 50, 80]),
            timing: pick(of, &[Timing::Jumbled, Timing::Jumbled, Timing::Jumbled, drive(seed)]),
            is_mirrored: is_small && of.random_ratio(1, 6),
            resynchronises: true,
            logical_block_bytes: pick(of, &[512, 512, 4096]),
            cache: if of.random_ratio(1, 16) { WriteCache::Protected } else { WriteCache::Volatile },
            after_discard: pick(of, &[AfterDiscard::Garbage, AfterDiscard::Zeros]),
            tearing: pick(of, &[Tearing::BetweenBlocks, Tearing::InsideBlocks]),
            choices: if is_small { of.random_range(3..=6) } else { 3 },
            trouble: pick(
                of,
                &[
                    Trouble::None,
                    Trouble::None,
                    Trouble::None,
                    Trouble::None,
                    Trouble::None,
                    Trouble::FailedFlush,
                    Trouble::FailedWrite,
                    Trouble::NoSpace,
                ],
            ),
            keep_bytes: pick(of, &[0, 4 * page_bytes, 16 << 20]),
            zones: if is_small && policy == PolicyKind::OutOfPlace && of.random_ratio(1, 4) {
                Zones::Many
            } else {
                Zones::Few
            },
            rounds: 0,
            write_percent: 15,
            changes_max: u64::MAX,
            batches: Batches::UpToAPart,
            discard_percent: 10,
            compresses: true,
            memory_pages: 64,
            fills_first: false,
            looks: LOOKS,
            sets_headers: (seed / 2).is_multiple_of(2),
            mixes_calls: (seed / 6).is_multiple_of(MIXING),
        }
    }

    /// Returns true if the store is opened again after a failure, before the power cut. `direct`
    /// and `auto` promise nothing about pages being written, so nothing could be checked.
    pub fn goes_on_after_failure(&self) -> bool {
        self.policy.promises().atomic_batch
    }

    /// Length of the device that the store needs at its maximum size.
    pub(crate) fn device_bytes(&self) -> Result<u64, PageError> {
        let bytes = CreateOptions { pages: self.pages_max, ..self.create_options() }.device_bytes()?;
        // A store that grows step by step has more zones than a store created at full size.
        let grows_by_zones = self.policy == PolicyKind::OutOfPlace && self.pages < self.pages_max;
        Ok(if grows_by_zones { 2 * bytes } else { bytes })
    }

    /// Numbers in the store of the used pages at its maximum size, in ascending order.
    pub(crate) fn used_pages(&self) -> Vec<u64> {
        let is_used = |page: &u64| match self.used {
            Used::All => true,
            Used::AtChunks => USED_OF_CHUNK.contains(&(page % CHUNK_PAGES)),
        };
        (0..self.pages_max).filter(is_used).collect()
    }

    pub(crate) fn create_options(&self) -> CreateOptions {
        assert!(self.pages <= self.pages_max, "a store doesn't shrink");
        let options = CreateOptions {
            pages_max: Some(self.pages_max),
            alignment_bytes: 4096,
            buffer_bytes: self.buffer_bytes,
            ..CreateOptions::new(self.policy, self.page_bytes, self.pages)
        };
        if let Zones::NearlyFull(zone_bytes) = self.zones {
            return CreateOptions { alignment_bytes: zone_bytes, spare_percent: 0, ..options };
        }
        if self.zones != Zones::Many {
            return options;
        }
        let pages_bytes = self.pages * self.page_bytes as u64;
        let spare_percent = (100 * MANY_ZONES * LONG_ZONE_BYTES).div_ceil(pages_bytes);
        CreateOptions {
            alignment_bytes: LONG_ZONE_BYTES,
            spare_percent: u32::try_from(spare_percent)
                .unwrap_or_else(|_| panic!("{spare_percent} % is too much to spare")),
            ..options
        }
    }

    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            memory_bytes: if self.zones == Zones::Many { 512 } else { self.memory_pages } * self.page_bytes,
            gather_bytes: self.gather_bytes,
            drain_tasks: self.drain_tasks,
            keep_bytes: self.keep_bytes,
            experiments: Experiments { turn_pages: self.turn_pages, ..Experiments::default() },
            // Often the default, sometimes another interval.
            map_interval_bytes: match self.seed % 3 {
                0 => None,
                1 => Some(64 << 10),
                _ => Some(256 << 10),
            },
            ..OpenOptions::default()
        }
    }

    /// Power cuts of the first life (depth 0) and of later ones.
    pub(crate) fn power_cut(&self, depth: u32) -> PowerCut {
        let choices = if depth == 0 { self.choices } else { 2 };
        PowerCut { seed: self.seed.wrapping_add(u64::from(depth)), choices, tearing: self.tearing }
    }
}

fn drive(seed: u64) -> Timing {
    Timing::Drive(of_turn(&DRIVES, seed / 7))
}

fn of_turn<T: Copy>(all: &[T], turn: u64) -> T {
    let index = turn % all.len() as u64;
    let found = usize::try_from(index).ok().and_then(|index| all.get(index));
    *found.unwrap_or_else(|| panic!("{index} is a remainder of {}", all.len()))
}

fn pick<T: Copy>(random: &mut Xoshiro256PlusPlus, from: &[T]) -> T {
    *from.choose(random).unwrap_or_else(|| panic!("there is nothing to choose from"))
}
