//! Several sorters make one sort: taking turns in one world, and as threads with their own worlds.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::sync::{Arc, Mutex};

use common::turns::{all_of, sort_in_turns};
use common::{
    Cases, Concatenation, FailingWorld, OwnedRow, budget, memory_world, normalised, place, random_rows,
    reorder, run, sort_in_memory,
};
use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{DeviceFile, FileOptions, FileWorld};
use nandle_spill::{
    ParallelSort, Place, Row, SortOptions, SortOutput, SortedPart, Sorter, SpillCosts, SpillError,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn options(budget_bytes: usize) -> SortOptions {
    SortOptions::new(budget(budget_bytes), SpillCosts::default())
}

fn case(seed: u64) -> (SortOptions, Vec<OwnedRow>, usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let threads = random.random_range(1..5);
    let budget_bytes = [256 << 10, 300_001, 1 << 20][random.random_range(0..3)];
    let (key_bytes, payload_bytes) = [(3, 3), (30, 20), (9, 300)][random.random_range(0..3)];
    let by_row = 24 + key_bytes / 2 + payload_bytes / 2;
    let most = [budget_bytes / 8, budget_bytes, 6 * budget_bytes][random.random_range(0..3)] / by_row;
    let count = random.random_range(0..=most);
    let mut rows = random_rows(&mut random, count, key_bytes, payload_bytes);
    reorder(&mut random, &mut rows);
    let becomes_fewer = random.random_bool(0.3);
    if becomes_fewer {
        // With constant payloads, rows with equal keys are interchangeable.
        for (_, payload) in &mut rows {
            payload.clear();
        }
    }
    let options = SortOptions {
        stable: !becomes_fewer && random.random_bool(0.5),
        combine: (becomes_fewer && random.random_bool(0.5)).then(|| Arc::new(Concatenation) as _),
        limit: (becomes_fewer && random.random_bool(0.5))
            .then(|| random.random_range(0..2 * rows.len() as u64 + 2)),
        cluster_bytes: [None, Some(512), Some(4096)][random.random_range(0..3)],
        fan_in_max: [None, Some(2), Some(3)][random.random_range(0..3)],
        expected_bytes: random.random_bool(0.5).then(|| random.random_range(0..1 << 24)),
        ..options(budget_bytes)
    };
    (options, rows, threads)
}

#[test]
fn rows_come_out_in_order_however_the_sorters_share_them() {
    let cases = Cases::of("sorts by several sorters", 400);
    for seed in cases.seeds() {
        let (options, rows, threads) = case(seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
        let (got, report) = run(Box::new(memory_world()), async |handle| {
            let result = sort_in_turns(&handle, place(), &options, &rows, threads, &mut random).await;
            result.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        });
        assert!(report.most_used_bytes <= options.budget.bytes(), "seed {seed}");
        assert_eq!(report.rows, rows.len() as u64, "seed {seed}");
        assert_eq!(options.budget.used_bytes(), 0, "seed {seed}: memory is given back");
        assert!(got.is_sorted_by(|one, other| one.0 <= other.0), "seed {seed}");
        let expected = sort_in_memory(&options, &rows);
        assert!(normalised(&got, options.stable) == normalised(&expected, options.stable), "seed {seed}");
    }
    cases.summarise("");
}

#[test]
fn sorted_rows_become_one_run_however_the_sorters_share_them() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut rows: Vec<OwnedRow> =
        (0..30_000_u32).map(|number| (number.to_be_bytes().to_vec(), vec![7; 60])).collect();
    for is_reversed in [false, true] {
        if is_reversed {
            rows.reverse();
        }
        let options = options(256 << 10);
        let report = run(Box::new(memory_world()), async |handle| {
            sort_in_turns(&handle, place(), &options, &rows, 3, &mut random).await.unwrap().1
        });
        assert!(report.runs > 3, "{report:?}");
        assert_eq!((report.last_fan_in, report.merges), (1, 0), "{is_reversed}: {report:?}");
    }
}

#[test]
fn combining_in_order_takes_one_thread() {
    let combining = SortOptions { stable: true, combine: Some(Arc::new(Concatenation)), ..options(1 << 20) };
    assert!(ParallelSort::new(place(), combining.clone(), 1).is_ok());
    let Err(error) = ParallelSort::new(place(), combining, 2) else { panic!("it takes one thread") };
    assert!(error.to_string().contains("number of threads"), "{error}");
}

#[test]
fn device_error_at_any_request_fails_the_sort_and_releases_memory() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let rows = random_rows(&mut random, 9_000, 10, 60);
    let options = SortOptions { cluster_bytes: Some(2048), fan_in_max: Some(3), ..options(192 << 10) };
    let (world, requests) = FailingWorld::new(memory_world(), u64::MAX);
    let seeded = || Xoshiro256PlusPlus::seed_from_u64(2);
    run(Box::new(world), async |handle| {
        sort_in_turns(&handle, place(), &options, &rows, 2, &mut seeded()).await.unwrap();
    });
    let total = requests.get();
    assert!(total > 100, "{total} requests");
    for nth in 1..=total {
        let (world, _) = FailingWorld::new(memory_world(), nth);
        run(Box::new(world), async |handle| {
            let Err(error) = sort_in_turns(&handle, place(), &options, &rows, 2, &mut seeded()).await else {
                panic!("request {nth} failed")
            };
            assert!(matches!(error, SpillError::Io(_)), "request {nth}: {error}");
        });
        assert_eq!(options.budget.used_bytes(), 0, "request {nth}");
    }
}

/// Source from which threads take rows.
type Source<'a> = Mutex<std::iter::Peekable<std::slice::Iter<'a, OwnedRow>>>;

/// Body of one thread of a sort.
async fn take_turns(sort: &ParallelSort, handle: &Handle, source: &Source<'_>) -> Result<(), SpillError> {
    let mut sorter = sort.sorter(handle)?;
    loop {
        if !take_turn(&mut sorter, source)? {
            return sorter.end().await;
        }
        sorter.make_room().await?;
    }
}

/// Takes as many rows as fit. Returns false if there are no more.
fn take_turn(sorter: &mut Sorter, source: &Source<'_>) -> Result<bool, SpillError> {
    let mut rows = source.lock().unwrap();
    while let Some((key, payload)) = rows.peek()
        && sorter.try_push(Row { key, payload })?
    {
        rows.next();
    }
    Ok(rows.peek().is_some())
}

/// A sorter merges the run that another wrote last, although the other has written nothing since.
#[test]
fn runs_are_on_the_device_before_others_merge_them() {
    let rows = numbered_rows(60_000);
    let options = SortOptions { cluster_bytes: Some(1024), ..options(192 << 10) };
    let got = run(Box::new(memory_world()), async |handle| {
        let sort = ParallelSort::new(place(), options.clone(), 2).unwrap();
        let [mut one, mut other] = [sort.sorter(&handle).unwrap(), sort.sorter(&handle).unwrap()];
        let (few, many) = rows.split_at(5);
        for (key, payload) in few {
            assert!(one.try_push(Row { key, payload }).unwrap());
        }
        one.make_room().await.unwrap();
        for (key, payload) in many {
            other.push(Row { key, payload }).await.unwrap();
        }
        other.end().await.unwrap();
        one.end().await.unwrap();
        let mut sorted = sort.finish(&handle).await.unwrap();
        assert!(sorted.report().merges > 0, "{:?}", sorted.report());
        all_of(&mut sorted).await.unwrap()
    });
    assert!(normalised(&got, false) == normalised(&sort_in_memory(&options, &rows), false));
}

/// A file that each thread opens in its own world.
struct SharedFile {
    file: Arc<DeviceFile>,
}

impl SharedFile {
    const BYTES: u64 = 64 << 20;

    fn new() -> Self {
        let file = DeviceFile::new(tempfile::tempfile().unwrap(), FileOptions::default()).unwrap();
        Self { file: Arc::new(file.growing_to(Self::BYTES)) }
    }

    fn run<T>(&self, work: impl AsyncFnOnce(&Handle, Place) -> T) -> T {
        let mut world = FileWorld::new(64).unwrap();
        let device = world.add(Arc::clone(&self.file)).id;
        let runtime = Runtime::new(world.into_io());
        let place = Place { device, length_bytes: Self::BYTES, ..place() };
        runtime.block_on(work(&runtime.handle(), place))
    }

    /// Sorts with three threads, up to the last merges.
    fn sort_until_last_merge(&self, options: &SortOptions, rows: &[OwnedRow], place: Place) -> ParallelSort {
        let sort = ParallelSort::new(place, options.clone(), 3).unwrap();
        let source = Mutex::new(rows.iter().peekable());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    self.run(async |handle, _| take_turns(&sort, handle, &source).await).unwrap();
                });
            }
        });
        sort
    }
}

fn numbered_rows(count: u32) -> Vec<OwnedRow> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    (0..count).map(|number| (random.random::<[u8; 3]>().to_vec(), number.to_be_bytes().repeat(10))).collect()
}

#[test]
fn threads_with_a_world_each_sort_one_file() {
    let (rows, on_file) = (numbered_rows(60_000), SharedFile::new());
    let options = SortOptions { stable: true, cluster_bytes: Some(4096), ..options(1 << 20) };
    let parts = on_file.run(async |handle, place| {
        let sort = on_file.sort_until_last_merge(&options, &rows, place);
        let SortOutput::Parts(parts, report) = sort.finish_in_parts(handle, 3).await.unwrap() else {
            panic!("three parts fit")
        };
        assert!(report.runs > 3, "{report:?}");
        parts
    });
    let lengths: Vec<u64> = parts.iter().map(SortedPart::rows).collect();
    assert!(lengths.len() == 3 && lengths.iter().all(|rows| (10_000..30_000).contains(rows)), "{lengths:?}");
    let merge = &|part: SortedPart| {
        on_file.run(async |handle, _| all_of(&mut part.open(handle).unwrap()).await.unwrap())
    };
    let got: Vec<Vec<OwnedRow>> = std::thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || merge(part))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let got = got.concat();
    assert!(got == sort_in_memory(&options, &rows));
    assert_eq!(options.budget.used_bytes(), 0);
}

/// Each sorter merges runs of the others when the lists of runs fill their memory.
#[test]
fn threads_merge_each_others_runs_while_they_sort() {
    let rows = numbered_rows(150_000);
    for stable in [false, true] {
        let options = SortOptions { stable, cluster_bytes: Some(1024), ..options(192 << 10) };
        let on_file = SharedFile::new();
        let got = on_file.run(async |handle, place| {
            let sort = on_file.sort_until_last_merge(&options, &rows, place);
            let mut sorted = sort.finish(handle).await.unwrap();
            let report = sorted.report();
            assert!(report.runs > 100 && report.merges > 3, "{report:?}");
            all_of(&mut sorted).await.unwrap()
        });
        let expected = sort_in_memory(&options, &rows);
        assert!(normalised(&got, stable) == normalised(&expected, stable), "stable: {stable}");
    }
}
