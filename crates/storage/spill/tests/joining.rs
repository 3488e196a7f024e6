//! Compares the joiner with a join in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::future::Future;

use common::joins::{Case, JoinedRow, case, join, join_in_memory, rows};
use common::{Cases, DEVICE, budget, memory_world, place, run};
use nandle_io::DeviceId;
use nandle_spill::{
    Budget, JoinKind, JoinOptions, JoinReport, JoinSink, Joiner, Place, Row, SpillCosts, SpillError,
};

fn try_case(seed: u64) -> JoinReport {
    let case = case(seed);
    let mut got = Vec::new();
    let report = run(Box::new(memory_world()), async |handle| {
        join(&handle, place(), &case, &mut got).await.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    });
    assert!(report.most_used_bytes <= case.options.budget.bytes(), "seed {seed}");
    assert_eq!(case.options.budget.used_bytes(), 0, "seed {seed}: memory is given back");
    assert_eq!(report.result_rows, got.len() as u64, "seed {seed}");
    let counts = (report.build_rows, report.probe_rows);
    assert_eq!(counts, (case.build.len() as u64, case.probe.len() as u64), "seed {seed}");
    got.sort();
    assert!(got == join_in_memory(&case), "seed {seed}: {report:?}");
    report
}

#[test]
fn random_rows_are_joined() {
    let cases = Cases::of("hash joins", 1000);
    let reports: Vec<JoinReport> = cases.seeds().map(try_case).collect();
    let count = |met: &dyn Fn(&JoinReport) -> bool| reports.iter().filter(|report| met(report)).count();
    let met = [
        count(&|report| report.spilled_partitions == 0),
        count(&|report| report.spilled_partitions > 0),
        count(&|report| report.divided_pairs > 0),
        count(&|report| report.swapped_pairs > 0),
        count(&|report| report.block_loops > 0),
        count(&|report| report.filtered_rows > 0),
    ];
    assert!(met.iter().all(|met| met * 100 > reports.len()), "cases meet everything: {met:?}");
    cases.summarise("");
}

fn options(budget_bytes: usize, kind: JoinKind) -> JoinOptions {
    JoinOptions::new(budget(budget_bytes), SpillCosts::default(), kind)
}

/// Joins a case, and compares the result with a join in memory.
fn joined(case: &Case) -> JoinReport {
    let mut got = Vec::new();
    let report = run(Box::new(memory_world()), async |handle| join(&handle, place(), case, &mut got).await);
    let report = report.unwrap();
    got.sort();
    assert!(got == join_in_memory(case), "{report:?}");
    assert!(report.most_used_bytes <= case.options.budget.bytes(), "{report:?}");
    report
}

#[test]
fn fitting_build_side_is_never_written() {
    for kind in JoinKind::ALL {
        let case = Case {
            options: options(128 << 10, kind),
            build: rows(0..1000, 40),
            probe: rows((0..20_000).map(|row| row % 1500), 40),
        };
        let report = joined(&case);
        assert_eq!((report.spilled_partitions, report.written_bytes, report.read_bytes), (0, 0, 0));
    }
}

#[test]
fn most_of_a_nearly_fitting_build_side_stays_in_memory() {
    let case = Case {
        options: JoinOptions {
            fan_out_max: Some(16),
            cluster_bytes: Some(8192),
            ..options(1 << 20, JoinKind::Inner)
        },
        build: rows(0..12_000, 40),
        probe: rows(0..12_000, 40),
    };
    let report = joined(&case);
    let all_bytes = 2 * 12_000 * 47;
    assert!(report.written_bytes > 0 && report.written_bytes < all_bytes / 3, "{report:?}");
    assert_eq!(report.read_bytes, report.written_bytes, "{report:?}");
}

#[test]
fn input_much_longer_than_memory_is_divided_repeatedly() {
    for kind in JoinKind::ALL {
        let options =
            JoinOptions { fan_out_max: Some(2), cluster_bytes: Some(512), ..options(64 << 10, kind) };
        let (build, probe) = (rows(0..30_000, 50), rows(10_000..40_000, 60));
        let report = joined(&Case { options, build, probe });
        assert!(report.levels > 3 && report.divided_pairs > 6, "{report:?}");
    }
}

#[test]
fn one_key_larger_than_memory_on_both_sides_is_joined_by_block_loop() {
    for kind in JoinKind::ALL {
        let keys = |others: std::ops::Range<u32>| std::iter::repeat_n(7, 250).chain(others);
        let (build, probe) = (rows(keys(1000..1500), 400), rows(keys(1400..1900), 500));
        let report = joined(&Case { options: options(64 << 10, kind), build, probe });
        assert!(report.block_loops > 0 && report.divided_pairs <= 4, "{report:?}");
    }
}

#[test]
fn shorter_side_is_loaded_into_memory() {
    for kind in JoinKind::ALL {
        let (build, probe) = (rows((0..20_000).map(|row| row / 2), 60), rows(0..200, 60));
        let report = joined(&Case { options: options(64 << 10, kind), build, probe });
        assert!(report.swapped_pairs > 0, "{report:?}");
        assert_eq!((report.divided_pairs, report.block_loops), (0, 0), "{report:?}");
        assert!(report.read_bytes <= report.written_bytes, "nothing is read twice: {report:?}");
    }
}

#[test]
fn rows_that_match_nothing_are_seldom_written() {
    for kind in JoinKind::ALL {
        let (build, probe) = (rows(0..6_000, 60), rows(6_000..36_000, 60));
        let report = joined(&Case { options: options(256 << 10, kind), build, probe });
        assert!(report.spilled_partitions > 0 && report.filtered_rows > 5_000, "{report:?}");
        assert!(report.written_bytes < 6_000 * 64 + 3_000 * 64, "{report:?}");
    }
}

#[test]
fn filter_is_cleared_between_joins() {
    let case = |budget: &Budget, first: u32| Case {
        options: JoinOptions::new(budget.clone(), SpillCosts::default(), JoinKind::Inner),
        build: rows(first..first + 6_000, 60),
        probe: rows(first + 6_000..first + 36_000, 60),
    };
    let used = budget(256 << 10);
    joined(&case(&used, 1_000_000));
    let (after_another, alone) = (joined(&case(&used, 0)), joined(&case(&budget(256 << 10), 0)));
    assert_eq!(after_another.filtered_rows, alone.filtered_rows);
}

#[test]
fn rows_of_one_key_are_not_divided_again() {
    for kind in [JoinKind::Semi, JoinKind::Anti] {
        let one_key = || rows(std::iter::repeat_n(7, 4_000), 120);
        let report = joined(&Case { options: options(64 << 10, kind), build: one_key(), probe: one_key() });
        assert!(report.block_loop_pieces > 10 && report.divided_pairs == 0, "{report:?}");
    }
}

#[test]
fn a_budget_of_one_mebibyte_works() {
    for kind in JoinKind::ALL {
        let (build, probe) = (rows(0..120_000, 80), rows(60_000..180_000, 80));
        let report = joined(&Case { options: options(1 << 20, kind), build, probe });
        assert!(report.spilled_partitions > 0, "{report:?}");
    }
}

#[test]
fn row_longer_than_memory_states_a_sufficient_budget() {
    run(Box::new(memory_world()), async |handle| {
        let key = vec![1; 50_000];
        let row = Row { key: &key, payload: &[] };
        let mut joiner = Joiner::new(&handle, place(), options(64 << 10, JoinKind::Inner)).unwrap();
        let error = joiner.build(row).await.unwrap_err();
        let SpillError::Memory { needed_bytes, .. } = error else { panic!("{error}") };
        assert!((150_000..1_000_000).contains(&needed_bytes));
        let enough = options(usize::try_from(needed_bytes).unwrap(), JoinKind::Inner);
        let mut joiner = Joiner::new(&handle, place(), enough).unwrap();
        for _ in 0..25 {
            joiner.build(row).await.unwrap();
        }
        let mut probing = joiner.finish_build().await.unwrap();
        let mut count = 0;
        let mut sink = |_: Option<Row<'_>>, _: Row<'_>| count += 1;
        for _ in 0..25 {
            probing.probe(row, &mut sink).await.unwrap();
        }
        let report = probing.finish(&mut sink).await.unwrap();
        assert!(report.spilled_partitions > 0, "{report:?}");
        assert_eq!(count, 25 * 25);
    });
}

#[test]
fn rows_of_the_maximum_length_are_joined() {
    for kind in JoinKind::ALL {
        for cluster_bytes in [512, 2048, 4096] {
            for longest in [2_000, 5_000, 6_600] {
                let options = JoinOptions { cluster_bytes: Some(cluster_bytes), ..options(64 << 10, kind) };
                let side = |keys: std::ops::Range<u32>| {
                    let mut side = rows(keys.clone(), longest);
                    side.extend(rows(keys, 0));
                    side.sort_by_key(|(key, payload)| (key[3] % 7, payload.len()));
                    side
                };
                joined(&Case { options, build: side(0..100), probe: side(50..180) });
            }
        }
    }
}

#[test]
fn full_space_states_the_need_and_releases_memory() {
    let costs = SpillCosts { zone_bytes: 32 << 10, ..SpillCosts::default() };
    let options = JoinOptions { costs, cluster_bytes: Some(1024), ..options(64 << 10, JoinKind::Inner) };
    let case = Case { options, build: rows(0..10_000, 40), probe: rows(0..10_000, 40) };
    run(Box::new(memory_world()), async |handle| {
        let small = Place { length_bytes: 256 << 10, ..place() };
        let Err(error) = join(&handle, small, &case, &mut Vec::new()).await else { panic!("it is full") };
        assert_eq!(error, SpillError::Full { needed_bytes: 288 << 10, space_bytes: 256 << 10 });
    });
    assert_eq!(case.options.budget.used_bytes(), 0);
}

#[test]
fn equal_joins_take_equal_time() {
    let once = |seed| {
        let case = case(seed);
        let mut got: Vec<JoinedRow> = Vec::new();
        run(Box::new(memory_world()), async |handle| {
            let report = join(&handle, place(), &case, &mut got).await;
            (report, handle.now(), got)
        })
    };
    let cases = Cases::twice("hash joins, each twice", 60);
    for seed in cases.seeds() {
        assert!(once(seed) == once(seed), "seed {seed}");
    }
    cases.summarise("");
}

#[test]
fn missing_device_is_an_error() {
    run(Box::new(memory_world()), async |handle| {
        let nowhere = Place { device: DeviceId::from_index(DEVICE.index() + 1), ..place() };
        let joiner = Joiner::new(&handle, nowhere, options(64 << 10, JoinKind::Semi));
        assert!(matches!(joiner, Err(SpillError::Options { .. })));
    });
}

/// A sink that accepts a limited number of rows.
struct LimitedSink {
    left: u32,
}

#[derive(Debug, PartialEq)]
enum SinkFull {
    Enough,
    Failed(SpillError),
}

impl From<SpillError> for SinkFull {
    fn from(error: SpillError) -> Self {
        Self::Failed(error)
    }
}

impl JoinSink for LimitedSink {
    type Error = SinkFull;

    fn row(&mut self, _: Option<Row<'_>>, _: Row<'_>) -> impl Future<Output = Result<(), SinkFull>> {
        let left = self.left.checked_sub(1).ok_or(SinkFull::Enough);
        std::future::ready(left.map(|left| self.left = left))
    }
}

#[test]
fn failing_sink_ends_the_join() {
    run(Box::new(memory_world()), async |handle| {
        let mut joiner = Joiner::new(&handle, place(), options(64 << 10, JoinKind::Inner)).unwrap();
        let row = Row { key: b"k", payload: b"p" };
        joiner.build(row).await.unwrap();
        let mut probing = joiner.finish_build().await.unwrap();
        let mut sink = LimitedSink { left: 2 };
        assert_eq!(probing.probe(row, &mut sink).await, Ok(()));
        assert_eq!(probing.probe(row, &mut sink).await, Ok(()));
        assert_eq!(probing.probe(row, &mut sink).await, Err(SinkFull::Enough));
        assert_eq!(probing.probe(row, &mut sink).await, Err(SinkFull::Failed(SpillError::Failed)));
        assert_eq!(probing.finish(&mut sink).await, Err(SinkFull::Failed(SpillError::Failed)));
    });
}
