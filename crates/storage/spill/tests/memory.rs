//! Checks heap use outside the budget, with a counting allocator. The budget's buffers are mapped
//! and therefore not counted here; lists and keys charged to the budget are on the heap.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Concatenation, FailingWorld, OwnedRow, budget, memory_world, place, run};
use nandle_io::Io;
use nandle_io::runtime::Handle;
use nandle_spill::{
    Budget, JoinKind, JoinOptions, Joiner, ParallelSort, Row, SortOptions, SortOutput, Sorted, Sorter,
    SpillCosts, SpillError,
};
use peak_alloc::PeakAlloc;

/// Maximum heap use of an operator besides what its budget counts, in bytes. A program promises 16
/// MiB in all, and the library must take little of it.
const HEAP_BYTES_MAX: usize = 256 << 10;
/// Divisor of the budget that limits the counted heap use, with short rows.
const SHORT_ROWS_PART: usize = 8;

/// Serialises the tests: the allocator counts the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Returns the peak heap use of `work`, and the bytes it left allocated.
fn heap_of(world: Box<dyn Io>, work: impl AsyncFnOnce(&Handle)) -> (usize, usize) {
    let mut taken = (0, 0);
    run(world, async |handle| {
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        work(&handle).await;
        // Let abandoned requests complete.
        handle.sleep(nandle_io::Nanos::from_millis(100)).await;
        let (peak, after) = (HEAP.peak_usage(), HEAP.current_usage());
        taken = (peak - before, after.saturating_sub(before));
    });
    taken
}

/// Heap that the runtime and its world retain for later requests, in bytes.
const KEPT_BYTES_MAX: usize = 32 << 10;

#[allow(clippy::print_stdout, reason = "a record of what was measured")]
fn check(what: &str, are_long: bool, budget: &Budget, (peak, left): (usize, usize)) {
    println!(
        "{what}, long rows: {are_long}: {} KiB of budget, {} KiB of heap, {left} bytes left",
        budget.bytes() >> 10,
        peak >> 10
    );
    assert_eq!(budget.used_bytes(), 0, "{what}");
    assert!(budget.most_used_bytes() <= budget.bytes(), "{what}");
    // With long rows, keys and rows that cross clusters take most of the counted memory.
    let counted = if are_long { budget.most_used_bytes() } else { budget.bytes() / SHORT_ROWS_PART };
    assert!(peak <= HEAP_BYTES_MAX + counted, "{what}: {peak} bytes of heap");
    assert!(left <= KEPT_BYTES_MAX, "{what}: {left} bytes are left");
}

const BUDGETS_BYTES: [usize; 4] = [256 << 10, 1 << 20, 4 << 20, 16 << 20];

/// Short rows, or rows of up to a twentieth of the budget. Together they are several times the
/// budget, but fit into the space.
fn rows(budget_bytes: usize, are_long: bool) -> Vec<OwnedRow> {
    let bytes = (5 * budget_bytes).min(12 << 20).max(budget_bytes + budget_bytes / 4);
    let row_bytes = if are_long { budget_bytes / 40 } else { 40 };
    let mut state = 7_u64;
    (0..bytes / row_bytes)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = usize::try_from(state >> 33).unwrap() % (2 * row_bytes) / 2;
            let mut key = state.to_be_bytes()[..5].to_vec();
            if are_long {
                key.resize(5 + length, 3);
            }
            (key, vec![5; length])
        })
        .collect()
}

async fn count(sorted: &mut Sorted) -> Result<usize, SpillError> {
    let mut count = 0;
    while sorted.next().await?.is_some() {
        count += 1;
    }
    Ok(count)
}

async fn sort(handle: &Handle, options: SortOptions, rows: &[OwnedRow]) -> Result<usize, SpillError> {
    let mut sorter = Sorter::new(handle, place(), options)?;
    for (key, payload) in rows {
        sorter.push(Row { key, payload }).await?;
    }
    count(&mut sorter.finish().await?).await
}

async fn sort_by_four(handle: &Handle, options: SortOptions, rows: &[OwnedRow]) -> Result<usize, SpillError> {
    let sort = ParallelSort::new(place(), options, 4)?;
    let sorters: Result<Vec<Sorter>, _> = (0..4).map(|_| sort.sorter(handle)).collect();
    let mut sorters = sorters?;
    for (number, (key, payload)) in rows.iter().enumerate() {
        sorters[number / 100 % 4].push(Row { key, payload }).await?;
    }
    for sorter in sorters {
        sorter.end().await?;
    }
    match sort.finish_in_parts(handle, 4).await? {
        SortOutput::Whole(mut sorted) => count(&mut sorted).await,
        SortOutput::Parts(parts, _) => {
            let opened: Result<Vec<Sorted>, _> = parts.into_iter().map(|part| part.open(handle)).collect();
            let mut sum = 0;
            for mut sorted in opened? {
                sum += count(&mut sorted).await?;
            }
            Ok(sum)
        }
    }
}

async fn join(handle: &Handle, options: JoinOptions, rows: &[OwnedRow]) -> Result<usize, SpillError> {
    let (build, probe) = rows.split_at(rows.len() / 2);
    let mut count = 0;
    let mut sink = |_: Option<Row<'_>>, _: Row<'_>| count += 1;
    let mut joiner = Joiner::new(handle, place(), options)?;
    for (key, payload) in build {
        joiner.build(Row { key, payload }).await?;
    }
    let mut probing = joiner.finish_build().await?;
    // Half of the probe rows match.
    for (key, payload) in probe.iter().chain(build).step_by(2) {
        probing.probe(Row { key, payload }, &mut sink).await?;
    }
    probing.finish(&mut sink).await?;
    Ok(count)
}

#[test]
fn sorts_take_little_of_the_heap_and_give_it_back() {
    let _alone = ONE_AT_A_TIME.lock();
    for budget_bytes in BUDGETS_BYTES {
        for are_long in [false, true] {
            let rows = rows(budget_bytes, are_long);
            let plain = SortOptions::new(budget(budget_bytes), SpillCosts::default());
            let combining = SortOptions { combine: Some(Arc::new(Concatenation)), ..plain.clone() };
            let limited = SortOptions { limit: Some(rows.len() as u64 / 2), ..plain.clone() };
            for (what, options) in [("sort", plain.clone()), ("combining", combining), ("limit", limited)] {
                let taken = heap_of(Box::new(memory_world()), async |handle| {
                    let is_combining = options.combine.is_some();
                    match sort(handle, options, &rows).await {
                        Ok(_) => {}
                        // Long rows that are combined get a sixteenth of the memory.
                        Err(SpillError::Memory { .. }) if is_combining && are_long => {}
                        Err(error) => panic!("{what}: {error}"),
                    }
                });
                check(what, are_long, &plain.budget, taken);
            }
            if budget_bytes >= 1 << 20 {
                let taken = heap_of(Box::new(memory_world()), async |handle| {
                    assert_eq!(sort_by_four(handle, plain.clone(), &rows).await.unwrap(), rows.len());
                });
                check("sort by four", are_long, &plain.budget, taken);
            }
        }
    }
}

#[test]
fn joins_take_little_of_the_heap_and_give_it_back() {
    let _alone = ONE_AT_A_TIME.lock();
    for budget_bytes in BUDGETS_BYTES {
        for are_long in [false, true] {
            let rows = rows(budget_bytes, are_long);
            for kind in JoinKind::ALL {
                let options = JoinOptions::new(budget(budget_bytes), SpillCosts::default(), kind);
                let given = options.budget.clone();
                let taken = heap_of(Box::new(memory_world()), async |handle| {
                    join(handle, options, &rows).await.unwrap();
                });
                check(&format!("{kind:?} join"), are_long, &given, taken);
            }
        }
    }
}

#[test]
fn failed_operator_leaves_nothing_on_the_heap() {
    let _alone = ONE_AT_A_TIME.lock();
    let (rows, memory) = (rows(256 << 10, false), budget(256 << 10));
    let sorting =
        SortOptions { fan_in_max: Some(2), ..SortOptions::new(memory.clone(), SpillCosts::default()) };
    let joining = JoinOptions::new(memory.clone(), SpillCosts::default(), JoinKind::Left);
    for nth in [1, 2, 5, 20, 40, 80] {
        let world = || Box::new(FailingWorld::new(memory_world(), nth).0);
        let taken = heap_of(world(), async |handle| {
            assert!(sort(handle, sorting.clone(), &rows).await.is_err(), "request {nth}");
        });
        check("a sort that failed", false, &memory, taken);
        let taken = heap_of(world(), async |handle| {
            assert!(join(handle, joining.clone(), &rows).await.is_err(), "request {nth}");
        });
        check("a join that failed", false, &memory, taken);
    }
}
