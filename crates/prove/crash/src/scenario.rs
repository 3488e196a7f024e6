// long: every kind of history side by side, as a seed draws one of them

use nandle_model::media::{AfterDiscard, PowerCut, Tearing, WriteCache};
use nandle_pages::{CreateOptions, Experiments, OpenOptions, PageError, PolicyKind};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Everything that a seed decides about a history: the store, its device, the clients, and what goes wrong.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for itself, and is named where it is given")]
pub struct Scenario {
    /// What it all was drawn from.
    pub seed: u64,
    /// How the store writes.
    pub policy: PolicyKind,
    /// Length of a page.
    pub page_bytes: usize,
    /// How many there are.
    pub pages: u64,
    /// How many the store may get while its clients work.
    pub pages_max: u64,
    /// Which of them clients use.
    pub used: Used,
    /// Size of the staging area.
    pub buffer_bytes: u64,
    /// What zones an out-of-place store has.
    pub zones: Zones,
    /// Batches wait in memory for so much to come together.
    pub gather_bytes: usize,
    /// Tasks that bring pages home.
    pub drain_tasks: usize,
    /// So much of what is staged stays in memory.
    pub keep_bytes: usize,
    /// `auto` changes its way after so many pages, if any; else as it finds out.
    pub turn_pages: Option<u64>,
    /// Concurrent clients, each with pages of its own.
    pub clients: usize,
    /// What each client does between an opening and the next.
    pub steps: usize,
    /// Openings in one life, from one power cut to the next.
    pub sessions: usize,
    /// What a page of a batch is a rewrite of, so often in a hundred: one of a client's few favourites.
    pub hot_percent: u32,
    /// Which timing the device has: a modelled drive, or none that we know.
    pub timing: Timing,
    /// Whether the device is a mirror of two, whose legs lose their power together and have survivors of their own.
    pub is_mirrored: bool,
    /// Whether the legs of a mirror are made the same after a power cut. Always, but for who tests that it is needed.
    pub resynchronises: bool,
    /// The device's logical block.
    pub logical_block_bytes: u32,
    /// Its write cache.
    pub cache: WriteCache,
    /// What it returns for discarded blocks.
    pub after_discard: AfterDiscard,
    /// Where writes tear.
    pub tearing: Tearing,
    /// Choices of survivors at each cut.
    pub choices: u32,
    /// What fails while the first life goes on.
    pub trouble: Trouble,
    /// So many power cuts come one after the other, each in a short life of its own; with 0 there is one life, of which every
    /// cut is explored.
    pub rounds: usize,
    /// Of a hundred steps of a client so many accept a batch without making it durable.
    pub write_percent: u32,
    /// Batches have so many changes at most. Where they are alike, what one run lost and the next writes in its place are as long.
    pub changes_max: u64,
    /// How long batches are, below that bound.
    pub batches: Batches,
    /// Of a hundred changes so many are discards.
    pub discard_percent: u32,
    /// Whether any page can be compressed; if not, none can.
    pub compresses: bool,
    /// Memory of the open store, in pages.
    pub memory_pages: usize,
    /// The first of the [`rounds`](Self::rounds) writes every page, and the power isn't cut before that is durable.
    pub fills_first: bool,
    /// Other power cuts of each of the rounds that are looked at.
    pub looks: u64,
    /// The first of the pages that are used is the header.
    pub sets_headers: bool,
    /// Clients read many pages of one state as well, and drop calls that haven't returned.
    pub mixes_calls: bool,
}

/// How many changes the batches of a history have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batches {
    /// Any number, up to a part of the staging area.
    UpToAPart,
    /// One, a few, or as many as the store takes.
    UpToTheLargest,
}

/// Which pages of a store are written and looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Used {
    /// All.
    All,
    /// A few at the ends of each [chunk](CHUNK_PAGES) and one inside, so that a history of a large store costs no more than one of a small
    /// store.
    AtChunks,
}

/// The zones of an out-of-place store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zones {
    /// As short as they may be, and a few to spare.
    Few,
    /// Longer ones, and so many that several are reserved.
    Many,
    /// Zones of so many bytes at least, nearly all of whose pages are written, and as few to spare as there may be.
    NearlyFull(u64),
}

/// When requests complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// In an order drawn from the seed.
    Jumbled,
    /// As a drive of the library has it.
    Drive(&'static str),
}

/// What fails in the first life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// A flush, now and then.
    FailedFlush,
    /// A write, now and then: some of its blocks are written.
    FailedWrite,
    /// There is no space, now and then.
    NoSpace,
}

/// Pages of a chunk of the checksums of home pages, by their format.
pub const CHUNK_PAGES: u64 = 1013;
/// Of each chunk, those that are used.
const USED_OF_CHUNK: [u64; 6] = [0, 1, 2, 500, CHUNK_PAGES - 2, CHUNK_PAGES - 1];
/// Of stores with [many zones](Zones::Many): two are reserved, and what may be volatile has no room in one.
const LONG_ZONE_BYTES: u64 = 32 * 4096;
const MANY_ZONES: u64 = 32;
/// Clients of one in so many histories of a policy mix their calls.
const MIXING: u64 = 4;
/// Other power cuts that are looked at in each round of a whole life.
const LOOKS: u64 = 6;
/// Of stores that are nearly full.
const SHORT_ZONE_BYTES: u64 = 128 << 10;
const FULL_PAGES: u64 = 450;
const ZONE_BYTES: [u64; 5] = [4096, 80 << 10, SHORT_ZONE_BYTES, SHORT_ZONE_BYTES, 256 << 10];
/// Histories of a policy, by turns: three of a small store, one that grows, one that grows or is large, one whole life.
const KINDS_OF_HISTORIES: u64 = 6;
/// Large stores take long.
const CYCLES_PER_LARGE: u64 = 4;

const DRIVES: [&str; 3] = ["x25-e-64", "mtron-16", "nvme-tlc"];

impl Scenario {
    /// What a seed decides. Policies take turns, so that each has as many histories as the others.
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

    /// A store that grows while its clients work. In most it grows over the ends of chunks, in the others a little.
    pub fn growing(seed: u64, policy: PolicyKind) -> Self {
        Self::with_policy(seed, policy).grown(seed)
    }

    /// The same through many power cuts.
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

    /// Many short lives of a store of several chunks of checksums, every page of which is written first: the staging area
    /// holds all of them in half of these, so that one checkpoint writes all checksums anew.
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

    /// Many short lives of one store, of one policy: see [`rounds`](Self::rounds).
    pub fn whole_life(seed: u64, policy: PolicyKind) -> Self {
        let scenario = Self { trouble: Trouble::None, is_mirrored: false, ..Self::with_policy(seed, policy) };
        let scenario = Self { rounds: 32, steps: 4, sessions: 1, ..scenario };
        // In half of them several clients write short batches, so that much is on its way when the power goes off.
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

    /// A whole life of an `out-of-place` store that is as full as it may be: every page is written, zones are short and
    /// as few as creation permits, and batches have one change or as many as the store takes. What cleaning and openings that are cut off leave
    /// free is all the room that there is.
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
    /// The same for one policy.
    pub fn with_policy(seed: u64, policy: PolicyKind) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let of = &mut random;
        // Small pages mostly: large ones have the same code and cost more time.
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
            // Left to itself it hardly changes in so few steps.
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

    /// Whether the store is opened again after a failure before the power goes off. `direct` and `auto` promise nothing of
    /// pages that were being written, so there is nothing to be seen.
    pub fn goes_on_after_failure(&self) -> bool {
        self.policy.promises().atomic_batch
    }

    /// How large a device the store needs, also when it has grown.
    pub(crate) fn device_bytes(&self) -> Result<u64, PageError> {
        let bytes = CreateOptions { pages: self.pages_max, ..self.create_options() }.device_bytes()?;
        // A store with zones that grows step by step has more of them than one that is made with all pages.
        let grows_by_zones = self.policy == PolicyKind::OutOfPlace && self.pages < self.pages_max;
        Ok(if grows_by_zones { 2 * bytes } else { bytes })
    }

    /// The store's numbers of the pages that are used, in ascending order, as many as there may be.
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
            // As it is by itself, often, and now and then.
            map_interval_bytes: match self.seed % 3 {
                0 => None,
                1 => Some(64 << 10),
                _ => Some(256 << 10),
            },
            ..OpenOptions::default()
        }
    }

    /// How the power is cut in the first life (depth 0) and in later ones.
    pub(crate) fn power_cut(&self, depth: u32) -> PowerCut {
        let choices = if depth == 0 { self.choices } else { 2 };
        PowerCut { seed: self.seed.wrapping_add(u64::from(depth)), choices, tearing: self.tearing }
    }
}

fn drive(seed: u64) -> Timing {
    Timing::Drive(of_turn(&DRIVES, seed / 7))
}

/// Each of them in turn.
fn of_turn<T: Copy>(all: &[T], turn: u64) -> T {
    let index = turn % all.len() as u64;
    let found = usize::try_from(index).ok().and_then(|index| all.get(index));
    *found.unwrap_or_else(|| panic!("{index} is a remainder of {}", all.len()))
}

fn pick<T: Copy>(random: &mut Xoshiro256PlusPlus, from: &[T]) -> T {
    *from.choose(random).unwrap_or_else(|| panic!("there is nothing to choose from"))
}
