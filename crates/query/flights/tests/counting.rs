//! Counts by all methods, compared with a hash map.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int16Array};
use common::codes::{Batch, Plain, batches, collect, plainly, space};
use nandle_columns::Codes;
use nandle_flights::{
    CodeBatch, CodeColumn, CountError, CountMethod, CountReport, Counter, KeySpace, MemoryCounter, Shifted,
    SortedCounter,
};
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Nanos};
use nandle_spill::{Place, SpillCosts, SpillError};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn count_in_memory(space: &Arc<KeySpace>, batches: &[Batch], threads: usize) -> (Plain, CountReport) {
    let mut counter = MemoryCounter::new(space, 64 << 20).unwrap();
    for batch in batches {
        counter.push(&CodeBatch::new(space, &batch.columns()).unwrap()).unwrap();
    }
    let mut counts = counter.finish(threads, || nandle_io::Nanos::ZERO);
    let mut results = Plain::new();
    while let Some(batch) = counts.next_batch().unwrap() {
        collect(&batch, &mut results);
    }
    (results, counts.report())
}

const SPACE_BYTES: u64 = 256 << 20;

fn count_with_space(
    space: &Arc<KeySpace>,
    batches: &[Batch],
    space_bytes: u64,
) -> Result<(Plain, CountReport), CountError> {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device: DeviceId = world.add(space_bytes, 4096).id;
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let place = Place { device, start_bytes: 0, length_bytes: space_bytes, salt: 7, discards: false };
    runtime.block_on(async {
        let mut counter =
            Counter::new(space, Counter::MEMORY_BYTES_MIN, &handle, place, SpillCosts::default())?;
        for batch in batches {
            counter.push(&CodeBatch::new(space, &batch.columns())?).await?;
        }
        let mut counts = counter.finish(2, || nandle_io::Nanos::ZERO).await?;
        let mut results = Plain::new();
        while let Some(batch) = counts.next_batch().await? {
            collect(&batch, &mut results);
        }
        Ok((results, counts.report()))
    })
}

#[test]
fn few_cells_are_counted_in_an_array() {
    let space = space(&[7, 5], 3);
    let batches = batches(1, &space, &[7, 5, 3], &[0, 1, 5000, 3000]);
    let (results, report) = count_in_memory(&space, &batches, 1);
    assert_eq!(results, plainly(&batches, 3));
    assert_eq!((report.method, report.rows, report.groups), (CountMethod::Dense, 8001, results.len() as u64));
}

#[test]
fn many_cells_are_counted_in_partitions_by_any_number_of_threads() {
    let sizes = [24, 340, 140, 340, 2000];
    let space = space(&sizes[..4], sizes[4]);
    let batches = batches(2, &space, &sizes, &[100_000, 1, 70_000]);
    let plain = plainly(&batches, sizes[4]);
    for threads in [1, 2, 3] {
        let (results, report) = count_in_memory(&space, &batches, threads);
        assert!(results == plain, "{threads} threads");
        assert_eq!((report.method, report.rows), (CountMethod::Partitions, 170_001));
        assert_eq!(report.groups, plain.len() as u64);
    }
}

#[test]
fn waiting_keys_are_condensed_when_groups_are_few() {
    let sizes = [300, 300, 300];
    let space = space(&sizes[..2], sizes[2]);
    // Few distinct values per batch, and far more rows than fit in memory as keys.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut batches = vec![];
    for _ in 0..3 {
        let mut batch = Batch::random(&mut random, &space, &[300, 300, 300], 700_000);
        batch.codes[2] = vec![0; 700_000];
        batches.push(batch);
    }
    let (results, report) = count_with_space(&space, &batches, 16 << 20).unwrap();
    assert!(results == plainly(&batches, 300));
    assert!(report.condensed > 0, "{report:?}");
    assert_eq!((report.method, report.spilled_bytes), (CountMethod::Partitions, 0), "{report:?}");
}

#[test]
fn more_groups_than_memory_holds_become_runs() {
    let sizes = [24, 340, 140, 340, 2000];
    let space = space(&sizes[..4], sizes[4]);
    let batches = batches(4, &space, &sizes, &[160_000; 7]);
    let plain = plainly(&batches, sizes[4]);
    assert!(plain.len() > 600_000, "{} groups fit into memory", plain.len());
    let (results, report) = count_with_space(&space, &batches, SPACE_BYTES).unwrap();
    assert!(results == plain);
    assert_eq!(
        (report.method, report.rows, report.groups),
        (CountMethod::Runs, 1_120_000, plain.len() as u64)
    );
    assert!(report.spilled_bytes > 0 && report.runs > 0, "{report:?}");
    let error = count_with_space(&space, &batches, 4 << 20).unwrap_err();
    assert!(matches!(error, CountError::Spill(SpillError::Full { .. })), "{error}");
}

#[test]
fn memory_alone_says_when_it_is_used_up_and_what_it_took_is_right() {
    let sizes = [24, 340, 140, 340, 2000];
    let space = space(&sizes[..4], sizes[4]);
    let batches = batches(5, &space, &sizes, &[3_000_000]);
    let batch = CodeBatch::new(&space, &[]).map(|_| ()).unwrap_err();
    assert!(matches!(batch, CountError::Columns { expected: 5, got: 0 }));
    let columns = batches[0].columns();
    let batch = CodeBatch::new(&space, &columns).unwrap();
    let mut counter = MemoryCounter::new(&space, 12 << 20).unwrap();
    let taken = counter.try_push(&batch, 0);
    assert!(taken > 500_000 && taken < 3_000_000, "{taken}");
    assert!(matches!(counter.push(&batch), Err(CountError::Memory { .. })));
}

#[test]
fn counters_of_several_threads_are_put_together() {
    for (sizes, method) in
        [(vec![24, 340, 140, 2000], CountMethod::Partitions), (vec![24, 30, 2], CountMethod::Dense)]
    {
        let facts = *sizes.last().unwrap();
        let space = space(&sizes[..sizes.len() - 1], facts);
        let batches = batches(6, &space, &sizes, &[300_000, 200_000, 100_000]);
        let parts: Vec<MemoryCounter> = std::thread::scope(|scope| {
            let count = |batch: &Batch| {
                let mut counter = MemoryCounter::new(&space, 16 << 20).unwrap();
                counter.push(&CodeBatch::new(&space, &batch.columns()).unwrap()).unwrap();
                counter
            };
            let threads: Vec<_> = batches.iter().map(|batch| scope.spawn(move || count(batch))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap();
        parts.for_each(|part| whole.absorb(part));
        let mut counts = whole.finish(2, || nandle_io::Nanos::ZERO);
        let mut results = Plain::new();
        while let Some(batch) = counts.next_batch().unwrap() {
            collect(&batch, &mut results);
        }
        assert!(results == plainly(&batches, facts));
        assert_eq!((counts.report().method, counts.report().rows), (method, 600_000));
    }
}

#[test]
fn counters_of_several_threads_are_written_where_memory_is_short() {
    for (sizes, method) in
        [(vec![24, 340, 140, 2000], CountMethod::Runs), (vec![24, 30, 2], CountMethod::Dense)]
    {
        let facts = *sizes.last().unwrap();
        let space = space(&sizes[..sizes.len() - 1], facts);
        let batches = batches(8, &space, &sizes, &[100_000, 50_000, 50_000, 20_000]);
        let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
        let device = world.add(SPACE_BYTES, 4096).id;
        let runtime = Runtime::new(Box::new(world));
        let handle = runtime.handle();
        let place = Place { device, start_bytes: 0, length_bytes: SPACE_BYTES, salt: 7, discards: false };
        let (results, report) = runtime.block_on(async {
            let mut counter = Counter::new(&space, 16 << 20, &handle, place, SpillCosts::default()).unwrap();
            // A counter of another thread is absorbed repeatedly, and empty afterwards.
            let mut part = MemoryCounter::new(&space, 16 << 20).unwrap();
            for batch in &batches[1..] {
                part.push(&CodeBatch::new(&space, &batch.columns()).unwrap()).unwrap();
                counter.absorb(&mut part).await.unwrap();
            }
            counter.push(&CodeBatch::new(&space, &batches[0].columns()).unwrap()).await.unwrap();
            let mut counts = counter.finish(1, || nandle_io::Nanos::ZERO).await.unwrap();
            let mut results = Plain::new();
            while let Some(batch) = counts.next_batch().await.unwrap() {
                collect(&batch, &mut results);
            }
            (results, counts.report())
        });
        assert!(results == plainly(&batches, facts));
        assert_eq!((report.method, report.rows), (method, 220_000));
    }
}

/// Merges batches into one, sorted by all columns except the last.
fn sorted(batches: &[Batch], space: &KeySpace, sizes: &[usize]) -> Batch {
    let mut rows: Vec<Vec<u32>> =
        batches.iter().flat_map(|batch| (0..batch.rows()).map(|row| batch.values(row))).collect();
    rows.sort_by(|one, other| one[..one.len() - 1].cmp(&other[..other.len() - 1]));
    let dictionaries: Vec<Vec<u32>> =
        sizes.iter().map(|size| (0..u32::try_from(*size).unwrap()).collect()).collect();
    let shifted =
        dictionaries.iter().enumerate().map(|(column, codes)| space.shifted(column, codes).unwrap());
    let codes = (0..sizes.len()).map(|column| rows.iter().map(|row| row[column]).collect());
    Batch { shifted: shifted.collect(), codes: codes.collect(), dictionaries: dictionaries.clone() }
}

fn count_sorted(space: &Arc<KeySpace>, batches: &[Batch]) -> Result<(Plain, CountReport), CountError> {
    let mut counter = SortedCounter::new(space);
    let mut all = Plain::new();
    for batch in batches {
        let columns = batch.columns();
        let batch = CodeBatch::new(space, &columns)?;
        let mut from = 0;
        while from < batch.rows() {
            let (next, results) = counter.push(&batch, from)?;
            from = next;
            if let Some(results) = results {
                collect(&results, &mut all);
            }
        }
    }
    let (results, report) = counter.finish()?;
    if let Some(results) = results {
        collect(&results, &mut all);
    }
    Ok((all, report))
}

#[test]
fn sorted_rows_are_counted_as_they_come() {
    for sizes in [vec![24, 340, 140, 2000], vec![5, 7, 3]] {
        let facts = *sizes.last().unwrap();
        let space = space(&sizes[..sizes.len() - 1], facts);
        let batches = batches(7, &space, &sizes, &[200_000, 100_000]);
        let (results, report) = count_sorted(&space, &[sorted(&batches, &space, &sizes)]).unwrap();
        let plain = plainly(&batches, facts);
        assert!(results == plain);
        assert_eq!((report.method, report.groups), (CountMethod::Sorted, plain.len() as u64));
        let error = count_sorted(&space, &batches).map(|_| ()).unwrap_err();
        assert!(matches!(error, CountError::NotSorted { .. }), "{error}");
    }
}

#[test]
fn what_is_damaged_is_an_error() {
    let space = space(&[4], 3);
    let texts = space.shifted(0, &[0, 3]).unwrap();
    let of_another = self::space(&[400], 3).shifted(0, &[0, 100]).unwrap();
    let count = |texts: &Shifted, codes: &[u32], facts: &[u32]| {
        let of_facts = space.shifted(1, &[2]).unwrap();
        let columns = [
            CodeColumn { shifted: texts, codes: Codes::Each(codes) },
            CodeColumn { shifted: &of_facts, codes: Codes::Each(facts) },
        ];
        MemoryCounter::new(&space, 16 << 20)?.push(&CodeBatch::new(&space, &columns)?)
    };
    assert!(count(&texts, &[0, 1], &[0, 0]).is_ok());
    assert!(matches!(
        count(&texts, &[0, 2], &[0, 0]),
        Err(CountError::Code { column: 0, code: 2, codes: 2 })
    ));
    assert!(matches!(count(&texts, &[0, 1], &[0]), Err(CountError::Rows { column: 1, expected: 2, got: 1 })));
    assert!(matches!(count(&of_another, &[0, 1], &[0, 0]), Err(CountError::Table { got: 302, cells: 12 })));
    assert!(matches!(space.shifted(0, &[4]), Err(CountError::Code { column: 0, code: 4, codes: 4 })));
    assert!(matches!(space.shifted(2, &[0]), Err(CountError::Code { column: 2, .. })));
    assert!(matches!(KeySpace::new(Vec::new()), Err(CountError::NoValues)));
    assert!(MemoryCounter::new(&space, 1 << 20).is_err());
}

#[test]
fn keys_of_more_than_64_bits_are_refused() {
    let values: ArrayRef = Arc::new(Int16Array::from_iter_values(0..4096));
    let columns = |columns| (0..columns).map(|column| (format!("c{column}"), Arc::clone(&values))).collect();
    assert!(KeySpace::new(columns(5)).is_ok());
    let error = KeySpace::new(columns(6)).map(|_| ()).unwrap_err();
    assert!(matches!(error, CountError::TooManyCells { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn any_space(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(1_usize..400, 1..6),
        rows in proptest::collection::vec(0_usize..3000, 1..4),
        threads in 1_usize..3,
    ) {
        let facts = *sizes.last().unwrap();
        let space = space(&sizes[..sizes.len() - 1], facts);
        let batches = batches(seed, &space, &sizes, &rows);
        let plain = plainly(&batches, facts);
        let (results, _) = count_in_memory(&space, &batches, threads);
        prop_assert!(results == plain);
        let (results, _) = count_sorted(&space, &[sorted(&batches, &space, &sizes)]).unwrap();
        prop_assert!(results == plain);
    }
}
