//! Faults below a sort: failing requests, damaged and swapped clusters, cancellation.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use common::{DEVICE, FailingWorld, OwnedRow, budget, memory_world, place, random_rows, run, sort};
use nandle_io::Arena;
use nandle_io::runtime::Handle;
use nandle_spill::{Row, SortOptions, Sorter, SpillCosts, SpillError};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Costs that limit the read-ahead.
fn one_at_a_time() -> SpillCosts {
    let mut costs = SpillCosts::default();
    costs.random_reads.retain(|cost| cost.depth == 1);
    costs
}

fn case() -> (SortOptions, Vec<OwnedRow>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let rows = random_rows(&mut random, 12_000, 10, 30);
    let options = SortOptions {
        cluster_bytes: Some(2048),
        fan_in_max: Some(4),
        ..SortOptions::new(budget(64 << 10), one_at_a_time())
    };
    (options, rows)
}

#[test]
fn device_error_at_any_request_fails_the_sort_and_releases_memory() {
    let (options, rows) = case();
    let (world, requests) = FailingWorld::new(memory_world(), u64::MAX);
    run(Box::new(world), async |handle| {
        sort(&handle, place(), &options, &rows).await.unwrap();
    });
    let total = requests.get();
    assert!(total > 200, "{total} requests");
    for nth in 1..=total {
        let (world, _) = FailingWorld::new(memory_world(), nth);
        run(Box::new(world), async |handle| {
            let Err(error) = sort(&handle, place(), &options, &rows).await else {
                panic!("request {nth} failed")
            };
            assert!(matches!(error, SpillError::Io(_)), "request {nth}: {error}");
        });
        assert_eq!(options.budget.used_bytes(), 0, "request {nth}");
    }
}

/// Sorts, and calls `change` between making runs and merging, to tamper with the device.
async fn sort_tampered(handle: &Handle, change: impl AsyncFn(&Handle)) -> Result<Vec<OwnedRow>, SpillError> {
    let (options, rows) = case();
    let options = SortOptions { fan_in_max: None, budget: budget(256 << 10), ..options };
    let mut sorter = Sorter::new(handle, place(), options).unwrap();
    for (key, payload) in &rows {
        sorter.push(Row { key, payload }).await?;
    }
    // All but the first clusters of each run are read after `change`.
    let mut merged = sorter.finish().await?;
    change(handle).await;
    let mut got = Vec::new();
    while let Some(row) = merged.next().await? {
        got.push((row.key.to_vec(), row.payload.to_vec()));
    }
    Ok(got)
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

const CLUSTER_BYTES: u64 = 2048;
/// Clusters in the middle of a run.
const SOME_CLUSTERS: [u64; 4] = [9, 20, 33, 45];

#[test]
fn damaged_clusters_never_give_a_wrong_row() {
    let expected =
        run(Box::new(memory_world()), async |handle| sort_tampered(&handle, async |_| ()).await).unwrap();
    for cluster in SOME_CLUSTERS {
        for byte in [0, 5, 20, 33, 40, 700, 2000] {
            let got = run(Box::new(memory_world()), async |handle| {
                sort_tampered(&handle, async |handle| {
                    let at = cluster * CLUSTER_BYTES;
                    let mut contents = read(handle, at, 2048).await;
                    contents[byte] ^= 0x10;
                    write(handle, at, &contents).await;
                })
                .await
            });
            match got {
                Err(SpillError::Damaged { offset_bytes, .. }) => {
                    assert_eq!(offset_bytes, cluster * CLUSTER_BYTES);
                }
                // Bytes behind the used part may change.
                other => assert!(other.unwrap() == expected && byte >= 700, "cluster {cluster}, byte {byte}"),
            }
        }
    }
}

#[test]
fn swapped_cluster_is_detected() {
    for (from, to) in [(30, 9), (9, 30), (33, 34), (45, 30)] {
        let got = run(Box::new(memory_world()), async |handle| {
            sort_tampered(&handle, async |handle| {
                let contents = read(handle, from * CLUSTER_BYTES, 2048).await;
                write(handle, to * CLUSTER_BYTES, &contents).await;
            })
            .await
        });
        let Err(SpillError::Damaged { offset_bytes, .. }) = got else { panic!("{from} is at {to}") };
        assert_eq!(offset_bytes, to * CLUSTER_BYTES);
    }
}

#[test]
fn stale_clusters_of_an_earlier_sort_are_detected() {
    run(Box::new(memory_world()), async |handle| {
        let (options, rows) = case();
        let earlier = nandle_spill::Place { salt: 1, ..place() };
        sort(&handle, earlier, &options, &rows).await.unwrap();
        let stale = read(&handle, 30 * CLUSTER_BYTES, 2048).await;
        let got =
            sort_tampered(&handle, async |handle| write(handle, 30 * CLUSTER_BYTES, &stale).await).await;
        assert!(matches!(got, Err(SpillError::Damaged { .. })), "{:?}", got.map(|rows| rows.len()));
    });
}

#[test]
fn cancellation_at_any_await_releases_memory() {
    let (options, rows) = case();
    let polls = async |handle: &Handle, most: u64| {
        let mut sorting = pin!(sort(handle, place(), &options, &rows));
        let mut count = 0;
        poll_fn(|context| {
            count += 1;
            if count > most {
                return Poll::Ready(());
            }
            sorting.as_mut().poll(context).map(|result| assert!(result.is_ok()))
        })
        .await;
        count
    };
    let total = run(Box::new(memory_world()), async |handle| polls(&handle, u64::MAX).await);
    assert!(total > 100, "{total} polls");
    for most in 0..total {
        run(Box::new(memory_world()), async |handle| polls(&handle, most).await);
        assert_eq!(options.budget.used_bytes(), 0, "after {most} polls");
    }
}
