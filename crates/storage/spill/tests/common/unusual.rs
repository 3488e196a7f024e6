//! Unusual inputs that random lengths and letters never make: rows of the maximum length, inputs
//! that fill a workspace to the last byte, keys that are equal or differ in the last byte, and
//! hundreds of runs merged two at a time.

use nandle_io::runtime::Handle;
use nandle_spill::{BUDGET_BYTES_MIN, Place, Row, SortOptions, Sorter, SpillCosts};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{OwnedRow, SPACE_BYTES, place};

/// Kind of unusual rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Few,
    EmptyKeys,
    OneKey,
    FewKeys,
    LastByteDiffers,
    BeginningsOfEachOther,
    AsLongAsMayBe,
    FillsWorkspaces,
    HundredsOfRuns,
}

impl Kind {
    /// Picks a kind. Hundreds of runs are rare, because they take as long as all other kinds
    /// together.
    pub(crate) fn any(random: &mut Xoshiro256PlusPlus) -> Self {
        if random.random_ratio(1, 50) {
            return Self::HundredsOfRuns;
        }
        [
            Self::Few,
            Self::EmptyKeys,
            Self::OneKey,
            Self::FewKeys,
            Self::LastByteDiffers,
            Self::BeginningsOfEachOther,
            Self::AsLongAsMayBe,
            Self::FillsWorkspaces,
        ][random.random_range(0..8)]
    }

    /// The minimum budget, or slightly more.
    pub(crate) fn budget_bytes(self, random: &mut Xoshiro256PlusPlus) -> usize {
        let more = [0, 0, 1, 4095, 4096, 65_536][random.random_range(0..6)];
        if self == Self::HundredsOfRuns { BUDGET_BYTES_MIN } else { BUDGET_BYTES_MIN + more }
    }

    /// Makes a key of this kind; `all_begin_with` is the shared prefix of a case.
    pub(crate) fn key(self, random: &mut Xoshiro256PlusPlus, all_begin_with: &[u8]) -> Vec<u8> {
        match self {
            Self::EmptyKeys => Vec::new(),
            Self::OneKey => all_begin_with.to_vec(),
            Self::FewKeys => [all_begin_with, &[random.random_range(0..3)]].concat(),
            Self::LastByteDiffers => [all_begin_with, &[random.random()]].concat(),
            Self::BeginningsOfEachOther => {
                all_begin_with[..random.random_range(0..=all_begin_with.len())].to_vec()
            }
            Self::HundredsOfRuns => {
                random.random::<u64>().to_be_bytes()[random.random_range(0..4)..].to_vec()
            }
            Self::Few | Self::AsLongAsMayBe | Self::FillsWorkspaces => {
                random.random::<u32>().to_be_bytes()[random.random_range(0..4)..].to_vec()
            }
        }
    }
}

/// Zones shorter than clusters, as long as one, and longer than all written data.
pub(crate) fn costs(random: &mut Xoshiro256PlusPlus) -> SpillCosts {
    let zone_bytes = [1, 512, 1536, 4096, 64 << 10, 4 << 20][random.random_range(0..6)];
    let costs = SpillCosts { zone_bytes, ..SpillCosts::default() };
    if random.random() {
        return costs;
    }
    // Like a disk: queue depth gains nothing, and writes are short.
    let random_reads = costs.random_reads.iter().filter(|cost| cost.depth == 1).copied().collect();
    SpillCosts { random_reads, write_request_bytes: 4096, writes_outstanding: 1, ..costs }
}

/// A part of the device, some blocks from its start.
pub(crate) fn random_place(random: &mut Xoshiro256PlusPlus, discards: bool) -> Place {
    let start_bytes = 512 * random.random_range(0..9);
    let all = Place { discards, ..place() };
    Place { start_bytes, length_bytes: SPACE_BYTES - start_bytes, ..all }
}

/// Space that is exactly enough for `written_bytes`, slightly less, or slightly more.
pub(crate) fn nearly_sufficient_space(
    random: &mut Xoshiro256PlusPlus,
    place: Place,
    costs: &SpillCosts,
    written_bytes: u64,
) -> Place {
    let zone_bytes = costs.zone_bytes.max(4096).min(written_bytes);
    let length_bytes = match random.random_range(0..4) {
        0 => written_bytes,
        1 => written_bytes / 2,
        2 => written_bytes.saturating_sub(zone_bytes),
        _ => written_bytes + zone_bytes * random.random_range(1..4),
    };
    Place { length_bytes: length_bytes.clamp(1, place.length_bytes), ..place }
}

/// Length of the longest row that a sort with these options accepts, and the number of such rows
/// that fill its workspace.
pub(crate) fn lengths(handle: &Handle, options: &SortOptions) -> (usize, usize) {
    let is_taken = |bytes: usize| {
        let key = vec![1; bytes];
        let mut sorter = Sorter::new(handle, place(), options.clone()).unwrap();
        sorter.try_push(Row { key: &key, payload: &[] }).is_ok()
    };
    let (mut longest, mut too_long) = (0, options.budget.bytes());
    while longest + 1 < too_long {
        let middle = longest.midpoint(too_long);
        if is_taken(middle) { longest = middle } else { too_long = middle }
    }
    let mut sorter = Sorter::new(handle, place(), options.clone()).unwrap();
    let mut count = 0;
    while sorter.try_push(Row { key: &[1; 10], payload: &[2; 30] }).unwrap() {
        count += 1;
    }
    (longest, count)
}

/// Rows of this kind, in an order that needs sorting.
pub(crate) fn rows(
    kind: Kind,
    random: &mut Xoshiro256PlusPlus,
    (longest, fill_workspace): (usize, usize),
) -> Vec<OwnedRow> {
    let all_begin_with = vec![random.random(); [0, 1, 7, 8, 9, 200, 600][random.random_range(0..7)]];
    let most = [100, 1000, 4000][random.random_range(0..3)];
    let count = match kind {
        Kind::Few => random.random_range(0..3),
        Kind::AsLongAsMayBe => random.random_range(1..8),
        Kind::FillsWorkspaces => (fill_workspace * random.random_range(1..8) + random.random_range(0..3)) - 1,
        Kind::HundredsOfRuns => fill_workspace * random.random_range(150..300),
        _ => random.random_range(0..most),
    };
    (0..count)
        .map(|number| {
            let key = kind.key(random, &all_begin_with);
            match kind {
                Kind::AsLongAsMayBe => long_row(random, longest, number),
                Kind::FillsWorkspaces | Kind::HundredsOfRuns => {
                    let length = 40 - key.len();
                    (key, number.to_le_bytes().into_iter().cycle().take(length).collect())
                }
                _ => (key, number.to_le_bytes()[..random.random_range(0..9)].to_vec()),
            }
        })
        .collect()
}

/// A row of the maximum length or almost, in the key or the payload; or, in between, a short row.
fn long_row(random: &mut Xoshiro256PlusPlus, longest: usize, number: usize) -> OwnedRow {
    let bytes = [longest, longest - 1, longest / 2, longest / 9, 0][random.random_range(0..5)];
    let key_bytes = [0, bytes / 2, bytes][random.random_range(0..3)];
    let letter = u8::try_from(number % 3).unwrap();
    let mut key = vec![7; key_bytes];
    if let Some(last) = key.last_mut() {
        *last = letter;
    }
    (key, vec![letter; bytes - key_bytes])
}
