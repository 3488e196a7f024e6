//! Compares the merge join with a join in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use common::joins::{Case, JoinedRow, case, join_in_memory, owned};
use common::{Cases, OwnedRow, budget, memory_world, place, run};
use nandle_io::runtime::Handle;
use nandle_spill::{
    Budget, JoinKind, JoinOptions, MergeJoinReport, Place, Row, SortOptions, Sorted, Sorter, SpillCosts,
    SpillError, merge_join,
};

async fn sorted(handle: &Handle, place: Place, rows: &[OwnedRow]) -> Result<Sorted, SpillError> {
    let options = SortOptions::new(budget(1 << 20), SpillCosts::default());
    let mut sorter = Sorter::new(handle, place, options)?;
    for (key, payload) in rows {
        sorter.push(Row { key, payload }).await?;
    }
    sorter.finish().await
}

async fn join(
    handle: &Handle,
    group_budget: &Budget,
    case: &Case,
    into: &mut Vec<JoinedRow>,
) -> Result<MergeJoinReport, SpillError> {
    let half = place().length_bytes / 2;
    let [build_place, probe_place] =
        [0, half].map(|start_bytes| Place { start_bytes, length_bytes: half, ..place() });
    let mut build = sorted(handle, build_place, &case.build).await?;
    let mut probe = sorted(handle, probe_place, &case.probe).await?;
    let mut sink = |build: Option<Row<'_>>, probe: Row<'_>| into.push((build.map(owned), owned(probe)));
    merge_join(group_budget, case.options.kind, &mut build, &mut probe, &mut sink).await
}

#[test]
fn random_rows_are_joined() {
    let cases = Cases::of("merge joins", 200);
    let mut refused = 0;
    for seed in cases.seeds() {
        let (case, group_budget) = (case(seed), budget(1 << 20));
        let mut got = Vec::new();
        let report =
            run(Box::new(memory_world()), async |handle| join(&handle, &group_budget, &case, &mut got).await);
        // All rows of one key may exceed the budget.
        let report = match report {
            Ok(report) => report,
            Err(SpillError::Memory { needed_bytes, .. }) => {
                assert!(needed_bytes > 1 << 20, "seed {seed}");
                refused += 1;
                continue;
            }
            // Merges before the last one need space for a second copy of their rows.
            Err(SpillError::Full { space_bytes, .. }) => {
                let bytes =
                    |rows: &[OwnedRow]| rows.iter().map(|row| row.0.len() + row.1.len()).sum::<usize>();
                assert!(bytes(&case.build).max(bytes(&case.probe)) as u64 > space_bytes / 2, "seed {seed}");
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        assert!(got.is_sorted_by_key(|(_, probe)| probe.0.clone()), "seed {seed}");
        assert_eq!(report.result_rows, got.len() as u64, "seed {seed}");
        assert_eq!(group_budget.used_bytes(), 0, "seed {seed}: memory is given back");
        got.sort();
        assert!(got == join_in_memory(&case), "seed {seed}: {report:?}");
    }
    cases.summarise(&format!(", {refused} of them refused for lack of memory"));
}

#[test]
fn group_larger_than_memory_states_a_sufficient_budget() {
    let rows = |count: usize| -> Vec<OwnedRow> { (0..count).map(|_| (vec![1; 30], vec![2; 500])).collect() };
    for kind in JoinKind::ALL {
        let options = JoinOptions::new(budget(64 << 10), SpillCosts::default(), kind);
        let case = Case { options, build: rows(400), probe: rows(3) };
        let expected = join_in_memory(&case);
        let result = |group_budget: &Budget| {
            let mut got = Vec::new();
            let result = run(Box::new(memory_world()), async |handle| {
                join(&handle, group_budget, &case, &mut got).await
            });
            result.map(|_| got)
        };
        let got = match result(&budget(64 << 10)) {
            Err(SpillError::Memory { needed_bytes, .. }) => {
                assert!(matches!(kind, JoinKind::Inner | JoinKind::Left));
                assert!((203_200..500_000).contains(&needed_bytes), "{needed_bytes}");
                result(&budget(usize::try_from(needed_bytes).unwrap())).unwrap()
            }
            // A semi join needs only one row of the group.
            other => {
                assert!(matches!(kind, JoinKind::Semi | JoinKind::Anti));
                other.unwrap()
            }
        };
        assert_eq!(got, expected);
    }
}
