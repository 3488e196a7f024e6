//! Sorts and joins of unusual rows in little memory and space, compared with references in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::joins::{Case, JoinedRow, join, join_in_memory};
use common::turns::sort_in_turns;
use common::unusual::{Kind, costs, lengths, nearly_sufficient_space, random_place, rows};
use common::{Cases, Concatenation, OwnedRow, budget, memory_world, normalised, run, sort_in_memory};
use nandle_io::Nanos;
use nandle_spill::{JoinKind, JoinOptions, JoinReport, Place, SortOptions, SortReport, SpillError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Counts = BTreeMap<String, u64>;

struct SortCase {
    seed: u64,
    kind: Kind,
    options: SortOptions,
    rows: Vec<OwnedRow>,
    threads: usize,
}

impl SortCase {
    fn of(seed: u64, random: &mut Xoshiro256PlusPlus) -> Self {
        let kind = Kind::any(random);
        let threads = if kind == Kind::HundredsOfRuns { 1 } else { random.random_range(1..4) };
        let combine = threads == 1 && random.random_ratio(1, 5);
        let costs = costs(random);
        let fan_in_max =
            if kind == Kind::HundredsOfRuns { Some(2) } else { [None, Some(2)][random.random_range(0..2)] };
        let options = SortOptions {
            stable: threads == 1 || random.random(),
            combine: combine.then(|| Arc::new(Concatenation) as _),
            limit: (threads == 1 && random.random_ratio(1, 6)).then(|| random.random_range(0..300)),
            cluster_bytes: [None, Some(512), Some(512), Some(1536), Some(4096)][random.random_range(0..5)],
            fan_in_max,
            expected_bytes: [None, Some(0), Some(u64::MAX)][random.random_range(0..3)],
            ..SortOptions::new(budget(threads * kind.budget_bytes(random)), costs)
        };
        let lengths = run(Box::new(memory_world()), async |handle| lengths(&handle, &options));
        let rows = rows(kind, random, (lengths.0 / threads, lengths.1));
        Self { seed, kind, options, rows, threads }
    }

    fn sort(&self, place: Place) -> (Result<(Vec<OwnedRow>, SortReport), SpillError>, Nanos) {
        let Self { seed, kind, options, rows, threads } = self;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
        let result = run(Box::new(memory_world()), async |handle| {
            let result = sort_in_turns(&handle, place, options, rows, *threads, &mut random).await;
            (result, handle.now())
        });
        assert_eq!(options.budget.used_bytes(), 0, "seed {seed}, {kind:?}: memory is given back");
        assert!(options.budget.most_used_bytes() <= options.budget.bytes(), "seed {seed}, {kind:?}");
        result
    }

    /// Checks the result, or returns the resource that was too small.
    fn check(&self, place: Place) -> Result<SortReport, &'static str> {
        let Self { seed, kind, options, rows, .. } = self;
        let (got, report) = match self.sort(place).0 {
            Ok(got) => got,
            Err(SpillError::Memory { needed_bytes, budget_bytes, purpose }) => {
                assert!(
                    needed_bytes > budget_bytes,
                    "seed {seed}, {kind:?}: {purpose}: {needed_bytes} of {budget_bytes}"
                );
                return Err("memory");
            }
            Err(SpillError::Full { needed_bytes, space_bytes }) => {
                assert!(
                    needed_bytes > space_bytes && space_bytes == place.length_bytes,
                    "seed {seed}, {kind:?}"
                );
                return Err("space");
            }
            Err(SpillError::Options { what: "the temporary space", .. }) => return Err("space for a zone"),
            Err(error) => panic!("seed {seed}, {kind:?}: {error}"),
        };
        let expected = sort_in_memory(options, rows);
        assert!(got.is_sorted_by(|one, other| one.0 <= other.0), "seed {seed}, {kind:?}");
        assert!(
            normalised(&got, options.stable) == normalised(&expected, options.stable),
            "seed {seed}, {kind:?}"
        );
        assert_eq!(report.rows, rows.len() as u64, "seed {seed}, {kind:?}");
        Ok(report)
    }
}

fn count(counts: &mut Counts, kind: Kind, what: &str) {
    *counts.entry(format!("{kind:?} {what}")).or_default() += 1;
}

#[test]
fn unusual_rows_are_sorted() {
    let cases = Cases::of("sorts of unusual rows", 300);
    let mut counts = Counts::new();
    for seed in cases.seeds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let case = SortCase::of(seed, &mut random);
        let place = random_place(&mut random, seed % 2 == 0);
        let done = case.check(place);
        count(&mut counts, case.kind, done.map_or_else(|what| what, |_| "done"));
        if let Ok(SortReport { written_bytes: 1.., .. }) = done {
            let written_bytes = done.unwrap().written_bytes;
            let little = nearly_sufficient_space(&mut random, place, &case.options.costs, written_bytes);
            count(
                &mut counts,
                case.kind,
                case.check(little).map_or_else(|what| what, |_| "done in little space"),
            );
        }
    }
    cases.summarise(&format!(" {counts:#?}"));
}

fn join_case(random: &mut Xoshiro256PlusPlus) -> (Kind, Case) {
    let kind = Kind::any(random);
    let costs = costs(random);
    let options = JoinOptions {
        expected_build_bytes: [None, Some(0), Some(u64::MAX)][random.random_range(0..3)],
        cluster_bytes: [None, Some(512), Some(512), Some(1536), Some(4096)][random.random_range(0..5)],
        fan_out_max: [None, Some(2)][random.random_range(0..2)],
        ..JoinOptions::new(budget(kind.budget_bytes(random)), costs, JoinKind::ALL[random.random_range(0..4)])
    };
    let longest = longest_of_join(&options);
    let build = rows(kind, random, (longest, 900));
    // Rows with few keys: keep the result small.
    let mut probe = rows(kind, random, (longest, 900));
    if kind != Kind::AsLongAsMayBe {
        probe.truncate(if kind == Kind::HundredsOfRuns { 100_000 } else { 20 });
    }
    let (build, probe) = if random.random() { (build, probe) } else { (probe, build) };
    (kind, Case { options, build, probe })
}

/// Length of the longest row that a join with these options accepts, in bytes.
fn longest_of_join(options: &JoinOptions) -> usize {
    let too_long = |bytes: usize| {
        let row = (vec![1; bytes], Vec::new());
        let case = Case { options: options.clone(), build: vec![row], probe: Vec::new() };
        let place = common::place();
        run(Box::new(memory_world()), async |handle| join(&handle, place, &case, &mut Vec::new()).await)
            .is_err()
    };
    let (mut longest, mut beyond) = (0, options.budget.bytes());
    while longest + 1 < beyond {
        let middle = longest.midpoint(beyond);
        if too_long(middle) { beyond = middle } else { longest = middle }
    }
    longest
}

fn check_join(seed: u64, (kind, case): &(Kind, Case), place: Place) -> Result<JoinReport, &'static str> {
    let mut got: Vec<JoinedRow> = Vec::new();
    let result = run(Box::new(memory_world()), async |handle| join(&handle, place, case, &mut got).await);
    let budget = &case.options.budget;
    assert_eq!(budget.used_bytes(), 0, "seed {seed}, {kind:?}: memory is given back");
    assert!(budget.most_used_bytes() <= budget.bytes(), "seed {seed}, {kind:?}");
    match result {
        Ok(report) => {
            got.sort();
            assert!(got == join_in_memory(case), "seed {seed}, {kind:?}: {report:?}");
            Ok(report)
        }
        Err(SpillError::Memory { needed_bytes, budget_bytes, purpose }) => {
            assert!(
                needed_bytes > budget_bytes,
                "seed {seed}, {kind:?}: {purpose}: {needed_bytes} of {budget_bytes}"
            );
            Err("memory")
        }
        Err(SpillError::Full { needed_bytes, space_bytes }) => {
            assert!(needed_bytes > space_bytes && space_bytes == place.length_bytes, "seed {seed}, {kind:?}");
            Err("space")
        }
        Err(SpillError::Options { what: "the temporary space", .. }) => Err("space for a zone"),
        Err(error) => panic!("seed {seed}, {kind:?}: {error}"),
    }
}

#[test]
fn unusual_rows_are_joined() {
    let cases = Cases::of("hash joins of unusual rows", 200);
    let mut counts = Counts::new();
    for seed in cases.seeds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let case = join_case(&mut random);
        let place = random_place(&mut random, seed % 2 == 0);
        let done = check_join(seed, &case, place);
        count(&mut counts, case.0, done.as_ref().map_or_else(|what| *what, |_| "done"));
        if let Ok(JoinReport { written_bytes: written_bytes @ 1.., .. }) = done {
            let little = nearly_sufficient_space(&mut random, place, &case.1.options.costs, written_bytes);
            let done = check_join(seed, &case, little);
            count(&mut counts, case.0, done.map_or_else(|what| what, |_| "done in little space"));
        }
    }
    cases.summarise(&format!(" {counts:#?}"));
}

#[test]
fn unusual_rows_take_the_same_time_again() {
    let cases = Cases::twice("sorts of unusual rows, each twice", 20);
    for seed in cases.seeds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let case = SortCase::of(seed, &mut random);
        let place = random_place(&mut random, seed % 2 == 0);
        assert!(case.sort(place) == case.sort(place), "seed {seed}");
    }
    cases.summarise("");
}
