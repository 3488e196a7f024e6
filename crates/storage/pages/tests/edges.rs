//! The smallest stores, the largest batches, and arrays that lose a child: each works, or returns a
//! specific error.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{DEVICE, PAGE_BYTES, batch, create_options, memory_world, open_options, read, run};
use nandle_io::conformance::MemoryWorld;
use nandle_io::{Arrays, Cause, Io, Nanos};
use nandle_pages::{Batch, CreateOptions, PageError, PageNumber, PolicyKind, Store};

#[test]
fn a_batch_is_taken_up_to_what_the_store_says_and_refused_beyond() {
    for policy in PolicyKind::ALL {
        run(memory_world(), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            let discards = |changes: usize| {
                let mut batch = Batch::new();
                (0..changes).for_each(|change| batch.discard(PageNumber(change as u64 % 64)));
                batch
            };
            let most = store.largest_batch();
            if let Some(changes) = most.checked_add(1) {
                let refused = store.commit(discards(changes)).await.unwrap_err();
                let found = matches!(refused, PageError::BatchTooLarge { changes: found, most: limit, .. }
                    if (found, limit) == (changes, most));
                assert!(found, "{policy}: {refused}");
            }
            store.commit(discards(most.min(1000))).await.unwrap();
            let pages: Vec<_> = (0..most.min(64) as u64).collect();
            store.commit(batch(&store, &pages, 3)).await.unwrap();
            assert_eq!(read(&store, pages[pages.len() - 1]).await, Some(3), "{policy}");
        });
    }
}

/// Options with the smallest staging area that a policy accepts.
fn smallest(policy: PolicyKind, pages: u64) -> CreateOptions {
    let options = CreateOptions { spare_percent: 0, ..CreateOptions::new(policy, PAGE_BYTES, pages) };
    let options = CreateOptions { alignment_bytes: PAGE_BYTES as u64, buffer_bytes: 0, ..options };
    match options.device_bytes() {
        Err(PageError::BufferSize { least, .. }) => options.with_buffer_bytes(least),
        _ => options,
    }
}

#[test]
fn the_smallest_store_on_a_device_that_has_just_room_for_it_works() {
    for policy in PolicyKind::ALL {
        for pages in 1..=3 {
            let create = smallest(policy, pages);
            let needed_bytes = create.device_bytes().unwrap();
            let world = |capacity_bytes| -> Box<dyn Io> {
                let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
                world.add(capacity_bytes, 512);
                Box::new(world)
            };
            let refused = run(world(needed_bytes - 512), async |handle| {
                Store::create(&handle, DEVICE, &create, open_options()).await.unwrap_err()
            });
            assert!(matches!(refused, PageError::TooSmall { .. }), "{policy}: {refused}");
            run(world(needed_bytes), async |handle| {
                let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
                for version in 1..=300 {
                    store.commit(batch(&store, &[version % pages], version)).await.unwrap();
                }
                store.close().await.unwrap();
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                for page in 0..pages {
                    let newest = (1..=300).rev().find(|version| version % pages == page);
                    assert_eq!(read(&store, page).await, newest, "{policy}, page {page} of {pages}");
                }
                store.checkpoint().await.unwrap();
            });
        }
    }
}

/// A child may lack data that the other acknowledged. The array then refuses all requests, and the
/// store reports why.
#[test]
fn an_array_with_a_failing_child_stops_the_store() {
    for policy in PolicyKind::ALL {
        for (what, cause) in [("flush", Cause::System(5)), ("write", Cause::System(5))] {
            let mut world = MemoryWorld::new(256, Nanos::from_micros(20));
            let children = [world.add(8 << 20, 512).id, world.add(8 << 20, 512).id];
            let faults = world.faults();
            let mut arrays = Arrays::new(Box::new(world));
            let array = arrays.raid0(&children, 64 << 10).unwrap().id;
            run(Box::new(arrays), async |handle| {
                let store =
                    Store::create(&handle, array, &create_options(policy), open_options()).await.unwrap();
                store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
                faults.fail_next(children[1], what, cause);
                let mut refused = None;
                for version in 2..400 {
                    if let Err(error) = store.commit(batch(&store, &[version % 64], version)).await {
                        refused = Some(error);
                        break;
                    }
                }
                let Some(refused) = refused else { return };
                let is_told = matches!(refused, PageError::Device { .. } | PageError::Latched { .. });
                assert!(is_told, "{policy}, {what}: {refused}");
                let later = store.commit(batch(&store, &[3], 9)).await.unwrap_err();
                assert!(matches!(later, PageError::Latched { .. }), "{policy}, {what}: {later}");
                assert!(later.to_string().contains("open the store again"), "{later}");
            });
        }
    }
}
