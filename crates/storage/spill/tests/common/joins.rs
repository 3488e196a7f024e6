//! Random join cases, and a reference join in memory.

use std::collections::BTreeMap;

use nandle_io::runtime::Handle;
use nandle_spill::{JoinKind, JoinOptions, JoinReport, Joiner, Place, Row, SpillCosts, SpillError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{OwnedRow, budget, random_rows};

/// A row of a result: the build row, if any, and the probe row.
pub(crate) type JoinedRow = (Option<OwnedRow>, OwnedRow);

pub(crate) struct Case {
    pub(crate) options: JoinOptions,
    pub(crate) build: Vec<OwnedRow>,
    pub(crate) probe: Vec<OwnedRow>,
}

pub(crate) fn owned(row: Row<'_>) -> OwnedRow {
    (row.key.to_vec(), row.payload.to_vec())
}

/// Joins, and collects the result in `into`, even if the join fails.
pub(crate) async fn join(
    handle: &Handle,
    place: Place,
    case: &Case,
    into: &mut Vec<JoinedRow>,
) -> Result<JoinReport, SpillError> {
    join_tampered(handle, place, case, into, async |_| ()).await
}

/// Joins, and calls `change` before spilled pairs are joined, to tamper with the device.
pub(crate) async fn join_tampered(
    handle: &Handle,
    place: Place,
    case: &Case,
    into: &mut Vec<JoinedRow>,
    change: impl AsyncFn(&Handle),
) -> Result<JoinReport, SpillError> {
    let Case { options, build, probe } = case;
    let mut sink = |build: Option<Row<'_>>, probe: Row<'_>| into.push((build.map(owned), owned(probe)));
    let mut joiner = Joiner::new(handle, place, options.clone())?;
    for (key, payload) in build {
        joiner.build(Row { key, payload }).await?;
    }
    let mut probing = joiner.finish_build().await?;
    for (key, payload) in probe {
        probing.probe(Row { key, payload }, &mut sink).await?;
    }
    change(handle).await;
    probing.finish(&mut sink).await
}

/// Reference join with a map, in key order.
pub(crate) fn join_in_memory(case: &Case) -> Vec<JoinedRow> {
    let mut builds: BTreeMap<&[u8], Vec<&OwnedRow>> = BTreeMap::new();
    for build in &case.build {
        builds.entry(&build.0).or_default().push(build);
    }
    let mut joined = Vec::new();
    for probe in &case.probe {
        let matching = builds.get(probe.0.as_slice()).map_or(&[][..], |builds| builds);
        let pairs = matching.iter().map(|build| (Some((*build).clone()), probe.clone()));
        match (case.options.kind, matching.is_empty()) {
            (JoinKind::Inner | JoinKind::Left, false) => joined.extend(pairs),
            (JoinKind::Left | JoinKind::Anti, true) | (JoinKind::Semi, false) => {
                joined.push((None, probe.clone()));
            }
            (JoinKind::Inner | JoinKind::Semi, true) | (JoinKind::Anti, false) => {}
        }
    }
    joined.sort();
    joined
}

/// Rows with these keys and distinct payloads of `payload_bytes` bytes.
pub(crate) fn rows(keys: impl Iterator<Item = u32>, payload_bytes: usize) -> Vec<OwnedRow> {
    let payload = |number: usize| number.to_le_bytes().into_iter().cycle().take(payload_bytes).collect();
    keys.enumerate().map(|(number, key)| (key.to_be_bytes().to_vec(), payload(number))).collect()
}

/// Rows of one side, with few or many distinct keys; up to `hot` rows share one key.
fn side(
    random: &mut Xoshiro256PlusPlus,
    bytes: usize,
    (key_bytes, payload_bytes): (usize, usize),
    hot: usize,
) -> Vec<OwnedRow> {
    let by_row = 4 + key_bytes / 2 + payload_bytes / 2;
    let count = random.random_range(bytes / 2..=bytes) / by_row;
    let mut rows = random_rows(random, count.min(5_000), 0, payload_bytes);
    let keys = match random.random_range(0..4) {
        0 => 1 + rows.len() / 5,
        _ => 1 + 2 * rows.len(),
    };
    let hot = hot.min(rows.len() / 2);
    for (number, row) in rows.iter_mut().enumerate() {
        let key = if number < hot { 0 } else { random.random_range(0..keys) };
        row.0 = key.to_be_bytes().to_vec();
        row.0.resize(8 + (key * 7919) % (key_bytes + 1), 3);
    }
    rows.sort_by_key(|(key, payload)| key.last().copied().max(payload.first().copied()));
    rows
}

pub(crate) fn case(seed: u64) -> Case {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let budget_bytes = [64 << 10, 64 << 10, 65_537, 100_000, 256 << 10, 1 << 20][random.random_range(0..6)];
    let lengths = [(3, 3), (20, 30), (4, 300), (4, 300), (700, 3000), (100, 6400)][random.random_range(0..6)];
    let mut bytes = || [0, budget_bytes / 2, 2 * budget_bytes, 12 * budget_bytes][random.random_range(0..4)];
    let (build_bytes, probe_bytes) = (bytes(), bytes());
    // Half of the rows of one side share a key; only one side does, to keep the result small.
    let (build_hot, probe_hot) =
        [(0, 0), (0, 0), (usize::MAX, 8), (8, usize::MAX)][random.random_range(0..4)];
    let build = side(&mut random, build_bytes, lengths, build_hot);
    let probe = side(&mut random, probe_bytes, lengths, probe_hot);
    let kind = JoinKind::ALL[random.random_range(0..4)];
    let options = JoinOptions {
        expected_build_bytes: random.random_bool(0.5).then(|| random.random_range(0..1 << 22)),
        cluster_bytes: [None, Some(512), Some(1024), Some(4096)][random.random_range(0..4)],
        fan_out_max: [None, Some(2), Some(3)][random.random_range(0..3)],
        ..JoinOptions::new(budget(budget_bytes), SpillCosts::default(), kind)
    };
    Case { options, build, probe }
}
