//! Faults below a join: failing requests, damaged and swapped clusters, cancellation. Rows that a
//! join returns before it fails must be correct.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use common::joins::{Case, JoinedRow, join, join_in_memory, join_tampered, rows};
use common::{DEVICE, FailingWorld, budget, memory_world, place, run};
use nandle_io::Arena;
use nandle_io::runtime::Handle;
use nandle_spill::{JoinKind, JoinOptions, JoinReport, Place, SpillCosts, SpillError};

const CLUSTER_BYTES: u64 = 2048;

/// A join that divides pairs again, and joins one by block loop.
fn case(kind: JoinKind) -> Case {
    let costs = SpillCosts { writes_outstanding: 2, ..SpillCosts::default() };
    let options = JoinOptions {
        cluster_bytes: Some(usize::try_from(CLUSTER_BYTES).unwrap()),
        fan_out_max: Some(3),
        ..JoinOptions::new(budget(64 << 10), costs, kind)
    };
    let hot = || std::iter::repeat_n(7, 300);
    Case {
        options,
        build: rows(hot().chain(10..4500), 120),
        probe: rows((500..5000).chain(hot().take(3)), 120),
    }
}

/// Returns true if `got` is a sub-multiset of the expected rows.
fn is_part_of(mut got: Vec<JoinedRow>, expected: &[JoinedRow]) -> bool {
    got.sort();
    let mut expected = expected.iter();
    got.iter().all(|row| expected.any(|other| other == row))
}

#[test]
fn case_divides_pairs_and_reads_many_clusters() {
    let case = case(JoinKind::Inner);
    let mut got = Vec::new();
    let report = run(Box::new(memory_world()), async |handle| join(&handle, place(), &case, &mut got).await);
    let JoinReport { divided_pairs, levels, read_requests, .. } = report.clone().unwrap();
    assert!(divided_pairs > 0 && levels > 1 && read_requests > 400, "{report:?}");
}

#[test]
fn device_error_at_any_request_fails_the_join_and_releases_memory() {
    for kind in [JoinKind::Inner, JoinKind::Anti] {
        let case = case(kind);
        let expected = join_in_memory(&case);
        let (world, requests) = FailingWorld::new(memory_world(), u64::MAX);
        run(Box::new(world), async |handle| join(&handle, place(), &case, &mut Vec::new()).await.unwrap());
        let total = requests.get();
        assert!(total > 300, "{total} requests");
        for nth in 1..=total {
            let (world, _) = FailingWorld::new(memory_world(), nth);
            let mut got = Vec::new();
            let result = run(Box::new(world), async |handle| join(&handle, place(), &case, &mut got).await);
            assert!(matches!(result, Err(SpillError::Io(_))), "request {nth}: {result:?}");
            assert!(is_part_of(got, &expected), "request {nth}");
            assert_eq!(case.options.budget.used_bytes(), 0, "request {nth}");
        }
    }
}

async fn read(handle: &Handle, offset_bytes: u64, bytes: usize) -> Vec<u8> {
    let arena = Arena::new(bytes).unwrap();
    let (buffer, result) = handle.device(DEVICE).read(offset_bytes, arena.allocate(bytes).unwrap()).await;
    result.unwrap();
    buffer.to_vec()
}

async fn write(handle: &Handle, offset_bytes: u64, contents: &[u8]) {
    let arena = Arena::new(contents.len()).unwrap();
    let mut buffer = arena.allocate(contents.len()).unwrap();
    buffer.copy_from_slice(contents);
    handle.device(DEVICE).write(offset_bytes, buffer.freeze()).await.unwrap();
}

/// Joins, and calls `change` before spilled pairs are joined. Checks that the rows returned are
/// among the expected ones.
fn tampered_join(case: &Case, change: impl AsyncFn(&Handle)) -> Result<Vec<JoinedRow>, SpillError> {
    let expected = join_in_memory(case);
    let mut got = Vec::new();
    let result = run(Box::new(memory_world()), async |handle| {
        join_tampered(&handle, place(), case, &mut got, change).await
    });
    assert!(is_part_of(got.clone(), &expected));
    assert_eq!(case.options.budget.used_bytes(), 0);
    result.map(|_| got)
}

#[test]
fn damaged_clusters_never_give_a_wrong_row() {
    for kind in JoinKind::ALL {
        let case = case(kind);
        for cluster in [2, 9, 33, 70, 120] {
            for byte in [0, 5, 20, 35, 41, 46, 700, 2000] {
                let got = tampered_join(&case, async |handle| {
                    let at = cluster * CLUSTER_BYTES;
                    let mut contents = read(handle, at, 2048).await;
                    contents[byte] ^= 0x10;
                    write(handle, at, &contents).await;
                });
                match got {
                    Err(SpillError::Damaged { offset_bytes, .. }) => {
                        assert_eq!(offset_bytes, cluster * CLUSTER_BYTES);
                    }
                    // Bytes behind the used part may change.
                    other => {
                        let count = other.unwrap().len();
                        assert!(
                            count == join_in_memory(&case).len() && byte >= 700,
                            "{cluster}, byte {byte}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn swapped_cluster_is_detected() {
    for (from, to) in [(30, 9), (9, 30), (33, 34), (120, 70)] {
        let got = tampered_join(&case(JoinKind::Left), async |handle| {
            let contents = read(handle, from * CLUSTER_BYTES, 2048).await;
            write(handle, to * CLUSTER_BYTES, &contents).await;
        });
        let Err(SpillError::Damaged { offset_bytes, .. }) = got else { panic!("{from} is at {to}") };
        assert_eq!(offset_bytes, to * CLUSTER_BYTES);
    }
}

#[test]
fn stale_clusters_of_an_earlier_join_are_detected() {
    let case = case(JoinKind::Semi);
    run(Box::new(memory_world()), async |handle| {
        let stale = std::cell::RefCell::new(Vec::new());
        let earlier = Place { salt: 1, ..place() };
        let keep = async |handle: &Handle| *stale.borrow_mut() = read(handle, 30 * CLUSTER_BYTES, 2048).await;
        join_tampered(&handle, earlier, &case, &mut Vec::new(), keep).await.unwrap();
        let stale = stale.into_inner();
        let change = async |handle: &Handle| write(handle, 30 * CLUSTER_BYTES, &stale).await;
        let result = join_tampered(&handle, place(), &case, &mut Vec::new(), change).await;
        assert!(matches!(result, Err(SpillError::Damaged { .. })), "{result:?}");
    });
}

#[test]
fn cancellation_at_any_await_releases_memory() {
    for kind in [JoinKind::Left, JoinKind::Semi] {
        let case = case(kind);
        let expected = join_in_memory(&case);
        let polls = async |handle: &Handle, most: u64, got: &mut Vec<JoinedRow>| {
            let mut joining = pin!(join(handle, place(), &case, got));
            let mut count = 0;
            poll_fn(|context| {
                count += 1;
                if count > most {
                    return Poll::Ready(());
                }
                joining.as_mut().poll(context).map(|result| assert!(result.is_ok()))
            })
            .await;
            count
        };
        let total =
            run(Box::new(memory_world()), async |handle| polls(&handle, u64::MAX, &mut Vec::new()).await);
        assert!(total > 200, "{total} polls");
        for most in 0..total {
            let mut got = Vec::new();
            run(Box::new(memory_world()), async |handle| polls(&handle, most, &mut got).await);
            assert_eq!(case.options.budget.used_bytes(), 0, "after {most} polls");
            assert!(is_part_of(got, &expected), "after {most} polls");
        }
    }
}
