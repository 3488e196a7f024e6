//! Compares the sorter with a sort in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::sync::Arc;

use common::{
    Cases, Concatenation, DEVICE, OwnedRow, budget, memory_world, normalised, place, random_rows, reorder,
    run, sort, sort_in_memory,
};
use nandle_spill::{Combine, Place, Row, SortOptions, Sorter, SpillCosts, SpillError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn options(budget_bytes: usize) -> SortOptions {
    SortOptions::new(budget(budget_bytes), SpillCosts::default())
}

fn case(seed: u64) -> (SortOptions, Vec<OwnedRow>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let budget_bytes = *[64 << 10, 65_537, 100_000, 256 << 10].get(random.random_range(0..4)).unwrap();
    let (key_bytes, payload_bytes) = match random.random_range(0..4) {
        0 => (3, 3),
        1 => (30, 20),
        2 => (9, 300),
        _ => (1500, 3000),
    };
    let by_row = 24 + key_bytes / 2 + payload_bytes / 2;
    let most = [budget_bytes / 4, budget_bytes, 4 * budget_bytes][random.random_range(0..3)] / by_row;
    let count = random.random_range(0..=most);
    let mut rows = random_rows(&mut random, count, key_bytes, payload_bytes);
    reorder(&mut random, &mut rows);
    let stable = random.random_bool(0.5);
    let combine = random.random_bool(0.3) && payload_bytes < 100;
    let limit = random.random_bool(0.3).then(|| random.random_range(0..2 * rows.len() as u64 + 2));
    let options = SortOptions {
        // The combined payload depends on the order.
        stable: stable || combine || limit.is_some(),
        limit,
        combine: combine.then(|| Arc::new(Concatenation) as _),
        cluster_bytes: [None, Some(512), Some(1024), Some(4096)][random.random_range(0..4)],
        fan_in_max: [None, Some(2), Some(3)][random.random_range(0..3)],
        expected_bytes: random.random_bool(0.5).then(|| random.random_range(0..1 << 24)),
        ..options(budget_bytes)
    };
    (options, rows)
}

/// Sorts a case. Returns false if combined payloads exceed the memory, and the error says so.
fn try_case(seed: u64) -> bool {
    let (options, rows) = case(seed);
    let got = run(Box::new(memory_world()), async |handle| {
        let result = sort(&handle, place(), &options, &rows).await;
        match result {
            Ok((got, sorted)) => {
                assert!(sorted.report().most_used_bytes <= options.budget.bytes());
                Some(got)
            }
            Err(SpillError::Memory { .. }) => None,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    });
    assert_eq!(options.budget.used_bytes(), 0, "seed {seed}: memory is given back");
    let Some(got) = got else { return false };
    let expected = sort_in_memory(&options, &rows);
    assert!(got.is_sorted_by(|one, other| one.0 <= other.0), "seed {seed}");
    let is_stable = options.stable;
    assert_eq!(got.len(), expected.len(), "seed {seed}");
    assert!(normalised(&got, is_stable) == normalised(&expected, is_stable), "seed {seed}");
    true
}

#[test]
fn random_rows_come_in_order() {
    let cases = Cases::of("sorts", 1500);
    let refused = cases.seeds().filter(|seed| !try_case(*seed)).count();
    cases.summarise(&format!(", {refused} of them refused for lack of memory"));
}

#[test]
fn fitting_rows_are_never_written() {
    let rows: Vec<OwnedRow> =
        (0..800_u32).rev().map(|row| (row.to_be_bytes().to_vec(), vec![1; 20])).collect();
    run(Box::new(memory_world()), async |handle| {
        let (got, sorted) = sort(&handle, place(), &options(64 << 10), &rows).await.unwrap();
        assert_eq!((got.len(), sorted.report().runs, sorted.report().written_bytes), (800, 0, 0));
    });
}

#[test]
fn few_groups_and_small_limits_are_never_written() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let rows: Vec<OwnedRow> = (0..60_000)
        .map(|_| (random.random_range(0..250_u32).to_be_bytes().to_vec(), 1_u64.to_le_bytes().to_vec()))
        .collect();
    let grouped = SortOptions { combine: Some(Arc::new(Sum)), ..options(64 << 10) };
    let first = SortOptions { limit: Some(200), stable: true, ..options(64 << 10) };
    run(Box::new(memory_world()), async |handle| {
        let (got, sorted) = sort(&handle, place(), &grouped, &rows).await.unwrap();
        assert_eq!((got.len(), sorted.report().written_bytes), (250, 0));
        let total: u64 =
            got.iter().map(|(_, sum)| u64::from_le_bytes(sum.as_slice().try_into().unwrap())).sum();
        assert_eq!(total, 60_000);
        drop(sorted);
        let (got, sorted) = sort(&handle, place(), &first, &rows).await.unwrap();
        assert_eq!((&got, sorted.report().written_bytes), (&sort_in_memory(&first, &rows), 0));
    });
}

/// Sums payloads that are integers.
struct Sum;

impl Combine for Sum {
    fn combine(&self, into: &mut Vec<u8>, payload: &[u8]) {
        let value = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let sum = value(into).wrapping_add(value(payload));
        into.copy_from_slice(&sum.to_le_bytes());
    }
}

#[test]
fn sorted_and_reversed_rows_become_one_run() {
    let ascending: Vec<OwnedRow> =
        (0..40_000_u32).map(|row| (row.to_be_bytes().to_vec(), vec![1; 20])).collect();
    let descending: Vec<OwnedRow> = ascending.iter().rev().cloned().collect();
    for rows in [&ascending, &descending] {
        run(Box::new(memory_world()), async |handle| {
            let (got, sorted) = sort(&handle, place(), &options(256 << 10), rows).await.unwrap();
            assert_eq!(got, ascending);
            let report = sorted.report();
            assert!(report.runs > 3 && report.last_fan_in == 1 && report.merges == 0, "{report:?}");
        });
    }
}

#[test]
fn a_run_is_read_once_in_clusters() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let rows = random_rows(&mut random, 20_000, 12, 30);
    run(Box::new(memory_world()), async |handle| {
        let options = SortOptions { cluster_bytes: Some(1024), ..options(128 << 10) };
        let (_, sorted) = sort(&handle, place(), &options, &rows).await.unwrap();
        let report = sorted.report();
        assert_eq!(report.merges, 0);
        assert_eq!(report.read_requests * 1024, report.written_bytes, "{report:?}");
    });
}

#[test]
fn row_longer_than_memory_states_a_sufficient_budget() {
    run(Box::new(memory_world()), async |handle| {
        let key = vec![1; 50_000];
        let mut sorter = Sorter::new(&handle, place(), options(64 << 10)).unwrap();
        let error = sorter.push(Row { key: &key, payload: &[] }).await.unwrap_err();
        let SpillError::Memory { needed_bytes, .. } = error else { panic!("{error}") };
        assert!((150_000..500_000).contains(&needed_bytes));
        let enough = options(usize::try_from(needed_bytes).unwrap());
        let mut sorter = Sorter::new(&handle, place(), enough).unwrap();
        for _ in 0..9 {
            sorter.push(Row { key: &key, payload: &[] }).await.unwrap();
        }
        let mut rows = sorter.finish().await.unwrap();
        let mut count = 0;
        while let Some(row) = rows.next().await.unwrap() {
            assert_eq!(row.key.len(), 50_000);
            count += 1;
        }
        assert_eq!(count, 9);
    });
}

#[test]
fn full_space_states_the_need_and_releases_memory() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let rows = random_rows(&mut random, 30_000, 12, 30);
    let options = SortOptions { cluster_bytes: Some(1024), ..options(64 << 10) };
    run(Box::new(memory_world()), async |handle| {
        let small = Place { length_bytes: 256 << 10, ..place() };
        let costs = SpillCosts { zone_bytes: 32 << 10, ..SpillCosts::default() };
        let options = SortOptions { costs, ..options.clone() };
        let Err(error) = sort(&handle, small, &options, &rows).await else { panic!("it is full") };
        assert_eq!(error, SpillError::Full { needed_bytes: 288 << 10, space_bytes: 256 << 10 });
    });
    assert_eq!(options.budget.used_bytes(), 0);
}

#[test]
fn equal_sorts_take_equal_time() {
    let once = |seed| {
        let (options, rows) = case(seed);
        run(Box::new(memory_world()), async |handle| {
            let sorted = sort(&handle, place(), &options, &rows).await;
            (sorted.map(|(got, sorted)| (got, sorted.report())), handle.now())
        })
    };
    let cases = Cases::twice("sorts, each twice", 100);
    for seed in cases.seeds() {
        assert!(once(seed) == once(seed), "seed {seed}");
    }
    cases.summarise("");
}

#[test]
fn missing_device_is_an_error() {
    run(Box::new(memory_world()), async |handle| {
        let nowhere = Place { device: nandle_io::DeviceId::from_index(DEVICE.index() + 1), ..place() };
        let rows: Vec<OwnedRow> =
            (0..10_000_u32).map(|row| (row.to_be_bytes().to_vec(), vec![0; 9])).collect();
        let Err(error) = sort(&handle, nowhere, &options(64 << 10), &rows).await else {
            panic!("there is none")
        };
        assert!(matches!(error, SpillError::Options { .. }), "{error}");
    });
}

#[test]
fn sorted_and_reversed_rows_far_beyond_memory_are_sorted() {
    let mut rows: Vec<OwnedRow> =
        (0..120_000_u32).map(|row| (row.to_be_bytes().to_vec(), vec![1; 60])).collect();
    let expected = rows.clone();
    let costs = SpillCosts { zone_bytes: 64 << 10, ..SpillCosts::default() };
    let options = SortOptions { costs, ..options(64 << 10) };
    for _ in 0..2 {
        run(Box::new(memory_world()), async |handle| {
            let (got, sorted) = sort(&handle, place(), &options, &rows).await.unwrap();
            assert!(got == expected, "{:?}", sorted.report());
        });
        rows.reverse();
    }
}

#[test]
fn any_cluster_length_the_device_supports_works() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let rows = random_rows(&mut random, 60_000, 12, 60);
    let mut expected = rows.clone();
    expected.sort();
    run(Box::new(memory_world()), async |handle| {
        for cluster_bytes in [512, 1536, 2560, 6144, 12_800] {
            let options = SortOptions { cluster_bytes: Some(cluster_bytes), ..options(256 << 10) };
            let (mut got, sorted) = sort(&handle, place(), &options, &rows).await.unwrap();
            assert!(got.is_sorted_by(|one, other| one.0 <= other.0), "{cluster_bytes}");
            got.sort();
            assert!(got == expected, "{cluster_bytes}: {:?}", sorted.report());
        }
        for cluster_bytes in [0, 1, 40, 41, 511, 1 << 20, usize::MAX / 2, usize::MAX] {
            let options = SortOptions { cluster_bytes: Some(cluster_bytes), ..options(256 << 10) };
            let Err(error) = sort(&handle, place(), &options, &rows).await else { panic!("{cluster_bytes}") };
            assert!(matches!(error, SpillError::Options { .. }), "{cluster_bytes}: {error}");
        }
    });
}

#[test]
fn pairs_of_rows_with_equal_prefixes_are_sorted() {
    let mut rows: Vec<OwnedRow> = (0..2000_u64)
        .map(|row| {
            (
                [(row / 2).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes(), row.to_be_bytes()].concat(),
                Vec::new(),
            )
        })
        .collect();
    rows.reverse();
    run(Box::new(memory_world()), async |handle| {
        let (got, _) = sort(&handle, place(), &options(1 << 20), &rows).await.unwrap();
        rows.sort();
        assert!(got == rows);
    });
}
