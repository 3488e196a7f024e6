//! Growth under every policy and in all circumstances.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use common::{DEVICE, batch, create_options, memory_world, open_options, read, run, version_in, world_on};
use nandle_io::conformance::MemoryWorld;
use nandle_io::{Cause, Nanos, Shape};
use nandle_model::media::{CrashImages, Media, PowerCut, SharedMedia, Tearing};
use nandle_pages::{
    CreateOptions, OpenOptions, PageError, PageNumber, PageOptions, PageStore, PolicyKind, Store,
};

const MODEL: &str = "x25-e-64";
/// Number of pages initially, and after each of two growths.
const PAGES: [u64; 3] = [64, 100, 1100];

fn roomy(policy: PolicyKind) -> CreateOptions {
    CreateOptions { pages_max: Some(2000), ..create_options(policy) }
}

#[test]
fn a_grown_store_keeps_what_it_had_and_takes_more() {
    for policy in PolicyKind::ALL {
        run(memory_world(), async |handle| {
            let store = Store::create(&handle, DEVICE, &roomy(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1, 63], 1)).await.unwrap();
            for (before, pages) in PAGES.into_iter().zip(PAGES.into_iter().skip(1)) {
                let beyond = store.commit(batch(&store, &[before], 2)).await;
                assert!(matches!(beyond, Err(PageError::BeyondEnd { .. })), "{policy}");
                store.grow(pages).await.unwrap();
                store.grow(pages).await.unwrap();
                assert_eq!(store.pages(), pages);
                store.commit(batch(&store, &[before, pages - 1], 2)).await.unwrap();
            }
            store.checkpoint().await.unwrap();
            store.close().await.unwrap();
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!(store.pages(), 1100);
            for (page, version) in [(1, 1), (63, 1), (64, 2), (99, 2), (100, 2), (1099, 2)] {
                assert_eq!(read(&store, page).await, Some(version), "{policy}, page {page}");
            }
            if store.promises().checks_pages {
                assert_eq!(store.verify().await, Ok(6), "{policy}");
            }
        });
    }
}

#[test]
fn what_cannot_grow_says_why_and_goes_on() {
    for policy in PolicyKind::ALL {
        run(memory_world(), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            let mut refusals = vec![(63, "doesn't shrink")];
            match policy {
                PolicyKind::DoubleWrite | PolicyKind::StableBuffer | PolicyKind::StableRing => {
                    refusals.push((1014, "pages_max"));
                }
                _ => {}
            }
            for (pages, why) in refusals {
                let refused = store.grow(pages).await.unwrap_err();
                assert!(matches!(refused, PageError::CannotGrow { .. }), "{policy}: {refused}");
                assert!(refused.to_string().contains(why), "{policy}: {refused}");
            }
            if matches!(policy, PolicyKind::Direct | PolicyKind::Auto | PolicyKind::OutOfPlace) {
                let refused = store.grow(1 << 20).await.unwrap_err();
                assert!(matches!(refused, PageError::TooSmall { .. }), "{policy}: {refused}");
            }
            store.commit(batch(&store, &[1], 1)).await.unwrap();
            assert_eq!((store.pages(), read(&store, 1).await), (64, Some(1)));
        });
    }
}

#[test]
fn a_write_or_a_flush_that_fails_meanwhile_leaves_the_old_number_or_the_new_one() {
    for policy in PolicyKind::ALL {
        for what in ["write", "flush"] {
            let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
            world.add(8 << 20, 512);
            let faults = world.faults();
            run(Box::new(world), async |handle| {
                let store = Store::create(&handle, DEVICE, &roomy(policy), open_options()).await.unwrap();
                store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
                faults.fail_next(DEVICE, what, Cause::System(5));
                store.grow(100).await.unwrap_err();
                assert!(matches!(store.grow(100).await, Err(PageError::Latched { .. })), "{policy}");
                assert_eq!(store.pages(), 64);
                drop(store);
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                assert!([64, 100].contains(&store.pages()), "{policy}");
                assert_eq!(read(&store, 2).await, Some(1));
                store.grow(100).await.unwrap();
                store.commit(batch(&store, &[99], 1)).await.unwrap();
            });
        }
    }
}

/// Promises of a history, each with the event from which it holds.
#[derive(Debug, Default, Clone)]
struct Promise {
    pages: Vec<(u64, u64)>,
    /// Versions of pages.
    commits: Vec<(u64, Vec<u64>)>,
}

fn small() -> Media {
    let shape = nandle_model::library::Model::named(MODEL).unwrap().device().unwrap().shape;
    Media::of_shape(&Shape { capacity_bytes: 8 << 20, ..shape })
}

/// Records a store that is alternately written and grown.
fn record(policy: PolicyKind) -> (SharedMedia, Promise) {
    let (world, media) = world_on(MODEL, small());
    run(world, async |handle| {
        let store = Store::create(&handle, DEVICE, &roomy(policy), open_options()).await.unwrap();
        store.close().await.unwrap();
    });
    let media = media.borrow().fork().recorded();
    let (world, media) = world_on(MODEL, media);
    let promise = Rc::new(RefCell::new(Promise::default()));
    let (noted, watched) = (Rc::clone(&promise), Rc::clone(&media));
    run(world, async move |handle| {
        let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
        noted.borrow_mut().pages.push((0, PAGES[0]));
        for (before, pages) in PAGES.into_iter().zip(PAGES.into_iter().skip(1)) {
            // No page twice: without atomic batches a rewritten page may be torn.
            let old = vec![before - 2, before / 2];
            store.commit(batch(&store, &old, before)).await.unwrap();
            noted.borrow_mut().commits.push((watched.borrow().position(), old));
            store.grow(pages).await.unwrap();
            noted.borrow_mut().pages.push((watched.borrow().position(), pages));
            let new = vec![before, pages - 1];
            store.commit(batch(&store, &new, before)).await.unwrap();
            noted.borrow_mut().commits.push((watched.borrow().position(), new));
        }
    });
    let promise = promise.borrow().clone();
    (media, promise)
}

/// Opens an image three times: read-only, with recovery, and again. Returns the number of pages.
fn reopened(media: Media, promise: &Promise, cut: u64, policy: PolicyKind) -> u64 {
    let read_only = OpenOptions { read_only: true, ..open_options() };
    let mut media = media;
    let mut counts = Vec::new();
    for options in [read_only, open_options(), open_options()] {
        let (world, shared) = world_on(MODEL, media);
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, options).await.unwrap();
            counts.push(store.pages());
            for (at, pages) in promise.commits.iter().filter(|(at, _)| *at <= cut) {
                for page in pages {
                    assert!(read(&store, *page).await.is_some(), "{policy}, cut {cut}: page {page} of {at}");
                }
            }
        });
        media = shared.borrow().fork();
    }
    assert!(counts.iter().all(|count| *count == counts[0]), "{policy}, cut {cut}: {counts:?}");
    counts[0]
}

#[test]
fn a_power_cut_at_any_operation_leaves_the_old_number_or_the_new_one_and_loses_nothing() {
    for policy in PolicyKind::ALL {
        for tearing in [Tearing::BetweenBlocks, Tearing::InsideBlocks] {
            let (media, promise) = record(policy);
            let media = media.borrow();
            let recordings = [media.recording().unwrap()];
            let mut seen = std::collections::BTreeSet::new();
            let cuts = PowerCut { seed: 3, choices: 4, tearing };
            let promised = |cut: u64| promise.pages.iter().rfind(|(at, _)| *at <= cut).unwrap().1;
            for image in CrashImages::new(&recordings, cuts).distinct(|cut| promised(cut) as usize) {
                let pages = reopened(Media::on(image.contents[0].clone()), &promise, image.cut, policy);
                let least = promised(image.cut);
                let next = PAGES.into_iter().find(|pages| *pages > least).unwrap_or(least);
                assert!(
                    pages == least || pages == next,
                    "{policy}, cut {}: {pages}, {least} promised",
                    image.cut
                );
                seen.insert((least, pages));
            }
            let all = [(64, 64), (64, 100), (100, 100), (100, 1100), (1100, 1100)];
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), all, "{policy}");
        }
    }
}

#[test]
fn a_file_grows_while_it_is_read_and_written() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for policy in PolicyKind::ALL {
        let path = folder.path().join(policy.name());
        let create = PageOptions::new(64).with_policy(policy).with_buffer_bytes(1 << 20).with_pages_max(5000);
        let store = PageStore::create(&path, create).unwrap();
        let contents = |page: u64, version| {
            let mut contents = vec![0; common::PAGE_BYTES];
            common::fill(&mut contents, page, version);
            contents
        };
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (mut store, contents) = (store.clone(), &contents);
                scope.spawn(move || {
                    for version in 1..=30 {
                        let last = store.pages() - 1 - thread;
                        for page in [thread, last] {
                            store.put(page, &contents(page, version)).unwrap();
                        }
                        store.commit().unwrap();
                        for page in [thread, last] {
                            assert!(
                                version_in(&store.read(page).unwrap(), page).is_some(),
                                "{policy}: {page}"
                            );
                        }
                    }
                });
            }
            for pages in [100, 1100, 4000] {
                store.grow(pages).unwrap();
                assert_eq!(store.read(pages - 7).unwrap().len(), common::PAGE_BYTES);
            }
        });
        let refused = store.grow(10).unwrap_err();
        assert!(matches!(refused, PageError::CannotGrow { .. }), "{refused}");
        let length = std::fs::metadata(&path).unwrap().len();
        store.close().unwrap();
        let mut store = PageStore::open(&path).unwrap();
        assert_eq!(store.pages(), 4000);
        for thread in 0..3 {
            assert_eq!(version_in(&store.read(thread).unwrap(), thread), Some(30), "{policy}");
        }
        store.put(3999, &contents(3999, 9)).unwrap();
        store.commit().unwrap();
        store.checkpoint().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), length, "{policy}");
    }
}

fn fixture() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("tests/fixtures/stable-ring.grown.v4.zst")
}

/// Creates a store with spare room that has grown once and lost power.
#[test]
#[ignore = "writes a fixture"]
fn make() {
    let (world, media) = world_on(MODEL, small());
    run(world, async |handle| {
        let create = roomy(PolicyKind::StableRing);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.commit(batch(&store, &[1, 63], 1)).await.unwrap();
        store.grow(100).await.unwrap();
        store.checkpoint().await.unwrap();
        store.commit(batch(&store, &[1, 99], 2)).await.unwrap();
    });
    let mut image = vec![0; 1 << 20];
    media.borrow().read_into(0, &mut image).unwrap();
    std::fs::write(fixture(), zstd::encode_all(image.as_slice(), 19).unwrap()).unwrap();
}

#[test]
fn a_store_of_version_4_is_read() {
    let image = zstd::decode_all(std::fs::File::open(fixture()).unwrap()).unwrap();
    assert_eq!(image[8], 4);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("pages");
    std::fs::write(&path, &image).unwrap();
    let store = PageStore::open(&path).unwrap();
    assert_eq!(store.pages(), 100);
    for (page, version) in [(1, 2), (63, 1), (99, 2)] {
        assert_eq!(version_in(&store.read(page).unwrap(), page), Some(version));
    }
    assert_eq!(store.read(5).unwrap(), vec![0; common::PAGE_BYTES]);
    store.grow(2000).unwrap();
    assert!(store.read(1999).is_ok() && PageNumber(store.pages()) == PageNumber(2000));
}
