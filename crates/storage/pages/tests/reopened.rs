//! Stores reopened after unusual events: batches of discards only, failed openings, an interrupted
//! group.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{DEVICE, batch, create_options, model_world, open_options, read, run, world_on};
use nandle_io::conformance::MemoryWorld;
use nandle_io::{Cause, Nanos};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};

const STAGING: [PolicyKind; 3] = [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing];

fn discard(page: u64) -> Batch {
    let mut batch = Batch::new();
    batch.discard(PageNumber(page));
    batch
}

/// An extent without pages also takes a block, which must be freed.
#[test]
fn discards_alone_go_on_for_ever() {
    for policy in STAGING {
        let (world, _) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            for number in 0..200 {
                store.commit(discard(number % 64)).await.unwrap();
            }
        });
    }
}

/// Volatile discards must leave enough room to rewrite them.
#[test]
fn discards_at_risk_leave_room_for_an_opening() {
    for policy in STAGING {
        let (world, media) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1], 7)).await.unwrap();
            store.checkpoint().await.unwrap();
            for number in 0..32 {
                store.write(discard(10 + number)).await.unwrap();
            }
            handle.sleep(Nanos::from_micros(50_000)).await;
        });
        let (world, _) = world_on("x25-e-64", media.borrow().fork());
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!(read(&store, 1).await, Some(7), "{policy}");
        });
    }
}

/// More openings in a row with failing flushes than a ledger has copies.
#[test]
fn a_store_opens_when_flushes_work_again() {
    for policy in [PolicyKind::StableBuffer, PolicyKind::OutOfPlace] {
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(4 << 20, 512);
        let faults = world.faults();
        run(Box::new(world), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1], 7)).await.unwrap();
            store.close().await.unwrap();
            for _ in 0..20 {
                faults.fail_next(DEVICE, "flush", Cause::System(5));
                assert!(Store::open(&handle, DEVICE, open_options()).await.is_err());
            }
            for _ in 0..2 {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                assert_eq!(read(&store, 1).await, Some(7), "{policy}");
                store.close().await.unwrap();
            }
        });
    }
}

/// Headers in flight take a block of memory each, and there are eight.
#[test]
fn groups_under_way_never_want_for_memory() {
    for policy in [PolicyKind::StableBuffer, PolicyKind::StableRing] {
        let (world, _) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let options = OpenOptions { memory_bytes: 32 << 10, ..open_options() };
            let create = CreateOptions { buffer_bytes: 700 * 4096, ..create_options(policy) };
            let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
            store.commit(batch(&store, &[30], 1)).await.unwrap();
            for number in 0..20 {
                store.write(discard(number)).await.unwrap();
            }
            store.commit(discard(5)).await.unwrap();
            assert_eq!(read(&store, 30).await, Some(1), "{policy}");
        });
    }
}
