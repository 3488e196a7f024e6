//! Growth under the policy `out-of-place`, which adds zones.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use common::{
    DEVICE, batch, create_options, label_places, memory_world, open_options, read, run, version_in,
};
use nandle_io::{Arena, Operation};
use nandle_model::media::{Media, SharedMedia};
use nandle_pages::salvage::{InspectOptions, Inspection};
use nandle_pages::{
    CreateOptions, OpenOptions, PageError, PageNumber, PageOptions, PageStore, PolicyKind, Store,
};

const MODEL: &str = "x25-e-64";

fn full_options() -> CreateOptions {
    CreateOptions { spare_percent: 0, ..create_options(PolicyKind::OutOfPlace) }
}

/// Writes every page once, a few per batch.
async fn write_all(store: &Store, version: u64) {
    let pages: Vec<u64> = (0..store.pages()).collect();
    for pages in pages.chunks(5) {
        store.commit(batch(store, pages, version)).await.unwrap();
    }
}

async fn check_all(store: &Store, pages: u64, version: u64) {
    for page in 0..pages {
        assert_eq!(read(store, page).await, Some(version), "page {page}");
    }
}

#[test]
fn a_full_store_that_grows_takes_more_pages_and_cleans_its_new_zones() {
    for (compress, memory_pages) in [(false, 256), (true, 256), (true, 8)] {
        run(memory_world(), async |handle| {
            let options =
                OpenOptions { compress, memory_bytes: memory_pages * common::PAGE_BYTES, ..open_options() };
            let mut store = Store::create(&handle, DEVICE, &full_options(), options).await.unwrap();
            let mut freed = 0;
            for pages in [64, 65, 200, 201, 700] {
                store.grow(pages).await.unwrap();
                for version in 1..=6 {
                    write_all(&store, pages * 10 + version).await;
                }
                check_all(&store, pages, pages * 10 + 6).await;
                assert_eq!(store.verify().await, Ok(pages));
                freed = store.stats().zones_freed;
                store.close().await.unwrap();
                store = Store::open(&handle, DEVICE, options).await.unwrap();
                assert_eq!(store.pages(), pages);
                check_all(&store, pages, pages * 10 + 6).await;
            }
            // 700 pages fill 50 zones.
            assert!(compress || freed > 100, "{freed}");
        });
    }
}

/// Growing in one step takes no more space than creation at full size, except for the slots of the
/// first map.
#[test]
fn a_grown_store_is_hardly_longer_than_a_new_one() {
    run(memory_world(), async |handle| {
        let create = create_options(PolicyKind::OutOfPlace);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        for pages in [100, 500, 1000] {
            let whole = CreateOptions { pages, ..create.clone() }.device_bytes().unwrap();
            let grown = store.grown_bytes(pages).unwrap();
            assert!(whole <= grown && grown < whole + (256 << 10), "{pages}: {grown}, {whole}");
        }
    });
}

#[test]
fn a_small_growth_after_another_takes_no_space() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("pages");
    let store = PageStore::create(&path, PageOptions::new(1000).with_policy(PolicyKind::OutOfPlace)).unwrap();
    let mut lengths = Vec::new();
    for pages in [1001, 1002, 1010] {
        store.grow(pages).unwrap();
        lengths.push(std::fs::metadata(&path).unwrap().len());
    }
    assert_eq!(lengths[0], lengths[2], "{lengths:?}");
    store.close().unwrap();
    assert_eq!(PageStore::open(&path).unwrap().pages(), 1010);
}

#[test]
fn handles_that_grow_a_file_at_the_same_time_leave_it_long_enough() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("pages");
    let store = PageStore::create(&path, PageOptions::new(10).with_policy(PolicyKind::OutOfPlace)).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            let store = store.clone();
            scope.spawn(move || {
                for step in 1..=8 {
                    match store.grow(10 + step * 400 + thread * 50) {
                        Ok(()) | Err(PageError::CannotGrow { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    store.close().unwrap();
    assert_eq!(PageStore::open(&path).unwrap().pages(), 3410);
}

/// Polls a future `times` times, and drops it.
async fn poll_times<F: Future>(times: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|context| {
        polls += 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if polls > times => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[test]
fn a_growth_whose_future_was_dropped_is_ended_by_the_next() {
    for polls in 0..40 {
        run(memory_world(), async |handle| {
            let create = create_options(PolicyKind::OutOfPlace);
            let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
            write_all(&store, 1).await;
            let has_grown = poll_times(polls, store.grow(500)).await.is_some();
            write_all(&store, 2).await;
            store.grow(700).await.unwrap();
            store.commit(batch(&store, &[64, 499, 699], 3)).await.unwrap();
            store.close().await.unwrap();
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!(store.pages(), 700, "{polls} polls, {has_grown}");
            check_all(&store, if has_grown { 63 } else { 64 }, 2).await;
            assert_eq!((read(&store, 499).await, read(&store, 699).await), (Some(3), Some(3)));
        });
    }
}

/// Replaces all labels by those of an older state.
fn with_labels(media: &SharedMedia, older: &Media) -> Media {
    let mut media = media.borrow().fork();
    for place in label_places() {
        let mut label = vec![0; 4096];
        older.read_into(place, &mut label).unwrap();
        let mut buffer = Arena::new(label.len()).unwrap().allocate(label.len()).unwrap();
        buffer.copy_from_slice(&label);
        let mut write = Operation::write(place, buffer.freeze());
        let id = media.begin(&write).unwrap();
        media.complete(id, &mut write).result.unwrap();
    }
    media.fork()
}

/// All pages found by an inspection.
fn salvaged(media: Media) -> (bool, BTreeMap<u64, Option<u64>>) {
    let (world, _) = common::world_on(MODEL, media);
    run(world, async |handle| {
        let mut inspection = Inspection::begin(&handle, DEVICE, &InspectOptions::default()).await.unwrap();
        let mut pages = BTreeMap::new();
        let mut visit = |page: PageNumber, contents: &[u8], _| {
            pages.insert(page.0, version_in(contents, page.0));
        };
        while inspection.step(&mut visit).await.unwrap().is_some() {}
        (inspection.report().is_sound(), pages)
    })
}

#[test]
fn a_grown_store_is_salvaged_also_with_labels_from_before_the_growth() {
    for is_closed in [true, false] {
        let (world, media) = common::model_world(MODEL, |media| media);
        let older = run(world, async |handle| {
            let create = create_options(PolicyKind::OutOfPlace);
            let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
            store.close().await.unwrap();
            let older = media.borrow().fork();
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            store.grow(400).await.unwrap();
            for version in 1..=5 {
                write_all(&store, version).await;
            }
            if is_closed {
                store.close().await.unwrap();
            }
            older
        });
        let expected: BTreeMap<_, _> = (0..400).map(|page| (page, Some(5))).collect();
        assert_eq!(salvaged(media.borrow().fork()), (true, expected.clone()), "{is_closed}");
        let rolled_back = with_labels(&media, &older);
        let (world, _) = common::world_on(MODEL, rolled_back.fork());
        run(world, async |handle| {
            let opened = Store::open(&handle, DEVICE, open_options()).await;
            assert!(matches!(opened, Err(PageError::Corrupt { .. })), "{opened:?}");
        });
        assert_eq!(salvaged(rolled_back).1, expected, "{is_closed}");
    }
}

/// Ledgers of earlier programs have no layout.
#[test]
fn a_store_of_an_earlier_program_grows() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/out-of-place.v5.zst");
    let image = zstd::decode_all(std::fs::File::open(fixture).unwrap()).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("pages");
    std::fs::write(&path, &image).unwrap();
    let mut store = PageStore::open_with(&path, open_options()).unwrap();
    store.grow(500).unwrap();
    let mut contents = [0; common::PAGE_BYTES];
    for (page, version) in (64..500).map(|page| (page, 1)).chain([(5, 2)]) {
        common::fill(&mut contents, page, version);
        store.put(page, &contents).unwrap();
        store.commit().unwrap();
    }
    drop(store);
    let store = PageStore::open_with(&path, open_options()).unwrap();
    assert_eq!(store.pages(), 500);
    for (page, version) in [(1, 1), (5, 2), (29, 29), (64, 1), (499, 1)] {
        assert_eq!(version_in(&store.read(page).unwrap(), page), Some(version), "page {page}");
    }
}
