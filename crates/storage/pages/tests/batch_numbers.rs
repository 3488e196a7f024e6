//! Numbers of batches across openings and power cuts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use common::{DEVICE, batch, create_options, model_world, open_options, run, world_on};
use nandle_io::runtime::Handle;
use nandle_model::media::{CrashImage, Media, PowerCut};
use nandle_pages::{Batch, BatchNumber, OpenOptions, PageOptions, PageStore, PolicyKind, Store};

const NUMBERED: [PolicyKind; 4] =
    [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing, PolicyKind::OutOfPlace];

/// Commits `batches` batches with increasing numbers. Returns the last one.
async fn commit_some(store: &Store, batches: u64) -> BatchNumber {
    let mut last = store.last_durable_batch();
    for version in 1..=batches {
        let number = store.commit(batch(store, &[version % 7, 10 + version], version)).await.unwrap();
        assert!(number > last, "{number} after {last}");
        last = number;
    }
    assert_eq!(store.commit(Batch::new()).await.unwrap(), last, "an empty batch has the last number");
    last
}

async fn open(handle: &Handle, read_only: bool) -> Store {
    Store::open(handle, DEVICE, OpenOptions { read_only, ..open_options() }).await.unwrap()
}

#[test]
fn numbers_grow_over_openings_and_never_go_back() {
    for policy in NUMBERED {
        let (world, _) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            assert_eq!(store.last_durable_batch(), BatchNumber::NONE, "{policy}");
            let mut last = commit_some(&store, 3).await;
            store.close().await.unwrap();
            for batches in 0..4 {
                assert!(open(&handle, true).await.last_durable_batch() >= last, "{policy}");
                let store = open(&handle, false).await;
                assert!(store.last_durable_batch() >= last, "{policy}");
                last = commit_some(&store, batches).await;
                store.close().await.unwrap();
            }
        });
    }
}

#[test]
fn an_opening_after_a_power_cut_tells_of_every_commit() {
    for policy in NUMBERED {
        let (world, media) = model_world("x25-e-64", Media::recorded);
        let last = run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            commit_some(&store, 5).await
        });
        let media = media.borrow();
        let image = CrashImage::at(&[media.recording().unwrap()], PowerCut::seeded(3), media.position(), 0);
        for read_only in [true, false] {
            let (world, _) = world_on("x25-e-64", Media::on(image.contents[0].clone()));
            run(world, async |handle| {
                let found = open(&handle, read_only).await.last_durable_batch();
                assert!(found >= last, "{policy}: {found}, and {last} was acknowledged");
            });
        }
    }
}

#[test]
fn policies_without_atomic_batches_number_none() {
    for policy in [PolicyKind::Direct, PolicyKind::Auto] {
        let (world, _) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            let number = store.commit(batch(&store, &[1], 1)).await.unwrap();
            assert_eq!((number, store.sync().await.unwrap()), (BatchNumber::NONE, BatchNumber::NONE));
            assert_eq!(store.last_durable_batch(), BatchNumber::NONE, "{policy}");
        });
    }
}

#[test]
fn a_store_in_a_file_tells_the_number_of_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    for policy in NUMBERED {
        let path = folder.path().join(policy.name());
        let mut store = PageStore::create(&path, PageOptions::new(64).with_policy(policy)).unwrap();
        store.put(3, &[1; 4096]).unwrap();
        let first = store.commit().unwrap();
        store.put(3, &[2; 4096]).unwrap();
        let second = store.commit().unwrap();
        assert!(second > first, "{policy}");
        store.close().unwrap();
        let mut store = PageStore::open(&path).unwrap();
        assert_eq!(store.last_durable_batch(), second, "{policy}: nothing came since");
        store.put(3, &[3; 4096]).unwrap();
        assert!(store.commit().unwrap() > second, "{policy}");
    }
}
