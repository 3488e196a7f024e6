//! Header of a store: set in batches, read through all interfaces, preserved by growth, salvage and
//! power cuts.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use common::{DEVICE, batch, create_options, memory_world, open_options, read, run, worlds};
use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::salvage::{InspectOptions, PageState, Salvage};
use nandle_pages::{
    Batch, BlockingStore, HEADER_BYTES, PageError, PageNumber, PageOptions, PageStore, PolicyKind, Store,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn header(version: u64) -> [u8; HEADER_BYTES] {
    [version as u8; HEADER_BYTES]
}

/// An incompressible header.
fn mixed_header() -> [u8; HEADER_BYTES] {
    std::array::from_fn(|at| (at * at * 37 + at * 11 + 7) as u8)
}

fn batch_of_header(version: u64) -> Batch {
    let mut batch = Batch::new();
    batch.set_header(header(version));
    batch
}

#[test]
fn a_batch_sets_the_header_with_its_pages_or_alone() {
    for policy in PolicyKind::ALL {
        for world in worlds() {
            run(world, async |handle| {
                let store =
                    Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
                assert_eq!((store.pages(), store.header().await.unwrap()), (64, header(0)), "{policy}");
                let mut both = batch(&store, &[0, 63], 1);
                both.set_header(header(1));
                assert_eq!((both.len(), batch_of_header(2).len()), (3, 1));
                assert!(!batch_of_header(2).is_empty());
                store.commit(both).await.unwrap();
                assert_eq!(store.header().await.unwrap(), header(1), "{policy}");
                store.commit(batch_of_header(2)).await.unwrap();
                store.checkpoint().await.unwrap();
                assert_eq!(store.verify().await.unwrap(), 2, "{policy}: the header is no page");
                store.close().await.unwrap();
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                assert_eq!(store.header().await.unwrap(), header(2), "{policy}");
                assert_eq!((read(&store, 0).await, read(&store, 63).await), (Some(1), Some(1)), "{policy}");
            });
        }
    }
}

#[test]
fn the_header_is_no_page_that_callers_may_name() {
    run(memory_world(), async |handle| {
        let options = create_options(PolicyKind::StableRing);
        let store = Store::create(&handle, DEVICE, &options, open_options()).await.unwrap();
        let (page, pages) = (PageNumber::HEADER, 64);
        assert_eq!(store.read(page).await.unwrap_err(), PageError::BeyondEnd { page, pages });
        let beyond = PageError::BeyondEnd { page: PageNumber(64), pages };
        assert_eq!(store.read(PageNumber(64)).await.unwrap_err(), beyond);
        let mut put = Batch::new();
        put.put(page, store.buffer().unwrap().freeze());
        assert_eq!(store.write(put).await.unwrap_err(), PageError::BeyondEnd { page, pages });
        let read = store.read_many(&[PageNumber(1), page]).await.unwrap();
        assert_eq!(read[1][..HEADER_BYTES], header(0));
    });
}

/// After any sequence of operations each page and the header hold their last values.
#[test]
fn random_histories_keep_headers_and_pages_apart() {
    for (seed, policy) in (0..12).zip(PolicyKind::ALL.into_iter().cycle()) {
        run(memory_world(), async |handle| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut options = create_options(policy);
            options.pages_max = Some(200);
            let mut store = Store::create(&handle, DEVICE, &options, open_options()).await.unwrap();
            let (mut pages, mut set) = (vec![None; 64], 0);
            for version in 1..=120 {
                let page = random.random_range(0..pages.len() as u64);
                let mut next = batch(&store, &[page], version);
                pages[page as usize] = Some(version);
                if random.random_bool(0.5) {
                    next.set_header(header(version));
                    set = version;
                }
                store.commit(next).await.unwrap();
                match random.random_range(0..12) {
                    0 => store.checkpoint().await.unwrap(),
                    1 => {
                        store.close().await.unwrap();
                        store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                    }
                    2 if policy != PolicyKind::OutOfPlace && pages.len() < 100 => {
                        store.grow(pages.len() as u64 + 7).await.unwrap();
                        pages.resize(pages.len() + 7, None);
                    }
                    _ => {}
                }
                assert_eq!(store.header().await.unwrap(), header(set), "{policy}, seed {seed}");
            }
            assert_eq!(store.pages(), pages.len() as u64);
            for (page, expected) in (0..).zip(&pages).filter(|(_, expected)| expected.is_some()) {
                assert_eq!(read(&store, page).await, *expected, "{policy}, seed {seed}, page {page}");
            }
        });
    }
}

#[test]
fn threads_see_the_header_and_a_page_of_one_batch() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch) {
        let file =
            File::options().read(true).write(true).create_new(true).open(folder.path().join(policy.name()));
        let file = file.unwrap();
        file.set_len(8 << 20).unwrap();
        let device = Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap());
        let store = BlockingStore::create(device, create_options(policy), open_options()).unwrap();
        assert_eq!(store.header().unwrap(), header(0));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for version in 1..=100 {
                    let mut next = batch_of_header(version);
                    let mut page = store.buffer().unwrap();
                    page.fill(version as u8);
                    next.put(PageNumber(5), page.freeze());
                    store.commit(next).unwrap();
                }
            });
            while !writer.is_finished() {
                let read = store.read_many(&[PageNumber::HEADER, PageNumber(5)]).unwrap();
                // Before the first batch the page holds the file's contents.
                assert_eq!(read[0][..HEADER_BYTES], read[1][..HEADER_BYTES], "{policy}");
            }
        });
        assert_eq!(store.header().unwrap(), header(100), "{policy}");
    }
}

fn made(path: &Path, policy: PolicyKind) {
    let mut store = PageStore::create(path, PageOptions::new(64).with_policy(policy)).unwrap();
    assert_eq!(store.header().unwrap(), header(0));
    store.put(3, &[3; 4096]).unwrap();
    store.set_header(mixed_header()).unwrap();
    assert_eq!(store.header().unwrap(), mixed_header(), "this handle's own");
    assert_eq!(store.clone().header().unwrap(), header(0), "another handle sees what is committed");
    store.commit().unwrap();
    store.set_header(header(8)).unwrap();
    store.rollback();
    let read = store.read_many(&[PageNumber::HEADER.0, 3]).unwrap();
    assert_eq!((&read[0][..HEADER_BYTES], read[1][0]), (&mixed_header()[..], 3), "{policy}");
    store.checkpoint().unwrap();
    store.close().unwrap();
}

#[test]
fn salvage_copies_the_header_and_says_when_it_is_lost() {
    for policy in PolicyKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        made(&old, policy);
        let salvage = |to: &Path| {
            let mut salvage = Salvage::begin(&old, to, &InspectOptions::default(), false).unwrap();
            let mut findings = Vec::new();
            while let Some(step) = salvage.step().unwrap() {
                findings.extend(step.findings);
            }
            (salvage.finish().unwrap(), findings)
        };
        let (report, findings) = salvage(&new);
        assert!(report.is_sound() && report.header.is_some(), "{policy}: {report:?}, {findings:?}");
        let store = PageStore::open(&new).unwrap();
        assert_eq!((store.header().unwrap(), store.read(3).unwrap()[0]), (mixed_header(), 3), "{policy}");
        store.close().unwrap();
        if !policy.promises().checks_pages {
            continue;
        }
        // Damages every copy: at home, and in the staging area or the zones.
        let mut image = fs::read(&old).unwrap();
        let (wanted, mut from) = (&mixed_header()[..64], 0);
        while let Some(at) = image[from..].windows(64).position(|bytes| bytes == wanted) {
            image[from + at] ^= 1;
            from += at + 1;
        }
        assert!(from > 0, "{policy}: it lies somewhere");
        fs::write(&old, image).unwrap();
        let (report, findings) = salvage(&folder.path().join("damaged"));
        assert!(report.header_lost || report.header == Some(PageState::Older), "{policy}: {report:?}");
        assert!(findings.iter().any(|finding| finding.header), "{policy}: {findings:?}");
        assert!(report.lost.is_empty() && report.older.is_empty(), "{policy}: {report:?}");
        if let Ok(store) = PageStore::open(&old) {
            let error = store.header().unwrap_err();
            assert!(error.to_string().starts_with("the header read from"), "{policy}: {error}");
        }
    }
}
