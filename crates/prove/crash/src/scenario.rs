use nandle_model::media::{AfterDiscard, PowerCut, Tearing, WriteCache};
use nandle_pages::{CreateOptions, Experiments, OpenOptions, PolicyKind};
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
}

/// How many changes the batches of a history have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batches {
    /// Any number, up to a part of the staging area.
    UpToAPart,
    /// One, a few, or as many as the store takes.
    UpToTheLargest,
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

/// Of stores with [many zones](Zones::Many): two are reserved, and what may be volatile has no room in one.
const LONG_ZONE_BYTES: u64 = 32 * 4096;
const MANY_ZONES: u64 = 32;
/// Other power cuts that are looked at in each round of a whole life.
const LOOKS: u64 = 6;
/// Of stores that are nearly full.
const SHORT_ZONE_BYTES: u64 = 128 << 10;
const FULL_PAGES: u64 = 450;
const ZONE_BYTES: [u64; 5] = [4096, 80 << 10, SHORT_ZONE_BYTES, SHORT_ZONE_BYTES, 256 << 10];
/// One history in so many is a whole life.
const HISTORIES_PER_WHOLE_LIFE: u64 = 6;

const DRIVES: [&str; 3] = ["x25-e-64", "mtron-16", "nvme-tlc"];

impl Scenario {
    /// What a seed decides. Policies take turns, so that each has as many histories as the others.
    pub fn of(seed: u64) -> Self {
        let policies = PolicyKind::ALL;
        let turn = usize::try_from(seed % policies.len() as u64).unwrap_or(0);
        let policy = policies.get(turn).copied().unwrap_or(PolicyKind::StableBuffer);
        let round = seed / policies.len() as u64;
        if round % HISTORIES_PER_WHOLE_LIFE == HISTORIES_PER_WHOLE_LIFE - 1 {
            let is_crowded = policy == PolicyKind::OutOfPlace && round / HISTORIES_PER_WHOLE_LIFE % 2 == 1;
            return if is_crowded { Self::crowded(seed) } else { Self::whole_life(seed, policy) };
        }
        Self::with_policy(seed, policy)
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
        Self {
            seed,
            zones: Zones::NearlyFull(pick(of, &ZONE_BYTES, SHORT_ZONE_BYTES)),
            page_bytes: 4096,
            pages: FULL_PAGES + pick(of, &[0, 0, 15, 30, 60], 0),
            gather_bytes: pick(of, &[0, 0, 64 << 10], 0),
            clients: pick(of, &[1, 1, 2, 3], 1),
            steps: of.random_range(20..=80),
            hot_percent: pick(of, &[0, 0, 20, 80], 0),
            batches: Batches::UpToTheLargest,
            changes_max: u64::MAX,
            discard_percent: pick(of, &[0, 5, 40], 5),
            compresses: of.random_ratio(1, 4),
            memory_pages: pick(of, &[64, 256, 4096], 256),
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
        let page_bytes = pick(of, &[4096, 4096, 4096, 4096, 4096, 8192, 8192, 16_384, 65_536], 4096);
        let least_blocks = 8 * (1 + page_bytes as u64 / 4096);
        let is_small = page_bytes < 16_384;
        let clients = pick(of, &[1, 1, 2, 3], 1);
        let steps = if is_small { of.random_range(16..=36) } else { 12 };
        let sessions = pick(of, &[1, 1, 2, 3], 1);
        Self {
            seed,
            policy,
            page_bytes,
            pages: if is_small { of.random_range(8..=24) } else { 6 },
            buffer_bytes: 4096 * of.random_range(least_blocks..=least_blocks * 2),
            gather_bytes: pick(of, &[0, 0, 0, 4 * page_bytes], 0),
            drain_tasks: of.random_range(1..=2),
            // Left to itself it hardly changes in so few steps.
            turn_pages: (!(seed / 6).is_multiple_of(4)).then_some(1 + seed / 24 % 16),
            clients,
            steps: steps / clients / sessions + 1,
            sessions,
            hot_percent: pick(of, &[20, 50, 80], 50),
            timing: pick(
                of,
                &[Timing::Jumbled, Timing::Jumbled, Timing::Jumbled, drive(seed)],
                Timing::Jumbled,
            ),
            is_mirrored: is_small && of.random_ratio(1, 6),
            resynchronises: true,
            logical_block_bytes: pick(of, &[512, 512, 4096], 512),
            cache: if of.random_ratio(1, 16) { WriteCache::Protected } else { WriteCache::Volatile },
            after_discard: pick(of, &[AfterDiscard::Garbage, AfterDiscard::Zeros], AfterDiscard::Garbage),
            tearing: pick(of, &[Tearing::BetweenBlocks, Tearing::InsideBlocks], Tearing::BetweenBlocks),
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
                Trouble::None,
            ),
            keep_bytes: pick(of, &[0, 4 * page_bytes, 16 << 20], 0),
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
        }
    }

    /// Whether the store is opened again after a failure before the power goes off. `direct` and `auto` promise nothing of
    /// pages that were being written, so there is nothing to be seen.
    pub fn goes_on_after_failure(&self) -> bool {
        self.policy.promises().atomic_batch
    }

    pub(crate) fn create_options(&self) -> CreateOptions {
        let options = CreateOptions {
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
            spare_percent: u32::try_from(spare_percent).unwrap_or(u32::MAX),
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
    let turn = usize::try_from(seed / 7 % DRIVES.len() as u64).unwrap_or(0);
    DRIVES.get(turn).map_or(Timing::Jumbled, |name| Timing::Drive(name))
}

fn pick<T: Copy>(random: &mut Xoshiro256PlusPlus, from: &[T], otherwise: T) -> T {
    from.choose(random).copied().unwrap_or(otherwise)
}
