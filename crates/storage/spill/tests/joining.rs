//! The joiner against a join in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use common::joins::{Case, case, join, join_in_memory};
use common::{OwnedRow, budget, memory_world, place, run};
use nandle_spill::{JoinKind, JoinOptions, JoinReport, SpillCosts, SpillError};

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
    let cases = std::env::var("NANDLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1000);
    for seed in 0..cases {
        try_case(seed);
    }
}
