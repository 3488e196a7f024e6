//! Stores of earlier versions stay readable, and are converted in files. Each fixture was left by a
//! power cut: some pages are staged, some are home, and one was discarded.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::path::{Path, PathBuf};

use common::{
    DEVICE, batch, create_options, fill, model_world, open_options, read, run, version_in, world_on,
};
use nandle_io::{Arena, Operation};
use nandle_model::media::Media;
use nandle_pages::{
    Batch, BatchNumber, HEADER_BYTES, OpenOptions, PageError, PageNumber, PageStore, PolicyKind, Store,
};

const BYTES: u64 = 2 << 20;

/// Format version of new stores.
const NEWEST_VERSION: u32 = 5;

fn path(policy: PolicyKind, version: u32) -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join(format!("tests/fixtures/{policy}.v{version}.zst"))
}

/// Writes fixtures of the current version. Run only for a new format version, under a new name.
#[test]
#[ignore = "writes fixtures"]
fn make() {
    for policy in PolicyKind::ALL {
        let (world, media) = model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            for version in 1..=30 {
                store.commit(batch(&store, &[version, 40 + version % 7], version)).await.unwrap();
            }
            let mut discard = Batch::new();
            discard.discard(PageNumber(3));
            store.commit(discard).await.unwrap();
        });
        let mut image = vec![0; usize::try_from(BYTES).unwrap()];
        media.borrow().read_into(0, &mut image).unwrap();
        std::fs::write(path(policy, NEWEST_VERSION), zstd::encode_all(image.as_slice(), 19).unwrap())
            .unwrap();
    }
}

fn image(policy: PolicyKind, version: u32) -> Vec<u8> {
    zstd::decode_all(std::fs::File::open(path(policy, version)).unwrap()).unwrap()
}

fn all() -> impl Iterator<Item = (PolicyKind, u32)> {
    (1..=NEWEST_VERSION).flat_map(|version| PolicyKind::ALL.map(|policy| (policy, version)))
}

/// Guaranteed version of each page in a fixture; `None` for unwritten pages.
fn held() -> impl Iterator<Item = (u64, Option<u64>)> {
    let once = (1..=30).filter(|page| *page != 3).map(|page| (page, Some(page)));
    let again = (40..47).map(|page| (page, (24..=30).find(|version| 40 + version % 7 == page)));
    once.chain(again).chain((47..64).map(|page| (page, None)))
}

#[test]
fn stores_of_all_versions_are_read_and_nothing_is_written() {
    for (policy, version) in all() {
        let (world, media) = world_on("x25-e-64", media_of(&image(policy, version)));
        let before = media.borrow().contents_hash();
        run(world, async |handle| {
            let options = OpenOptions { read_only: true, ..open_options() };
            let store = Store::open(&handle, DEVICE, options).await.unwrap();
            assert_eq!((store.policy(), store.pages(), store.page_bytes()), (policy, 64, 4096));
            for (page, expected) in held() {
                assert_eq!(read(&store, page).await, expected, "{policy}, version {version}");
            }
            store.verify().await.unwrap();
            assert_eq!(
                store.header().await.unwrap(),
                [0; HEADER_BYTES],
                "{policy}: earlier versions had none"
            );
            store.close().await.unwrap();
        });
        assert_eq!(media.borrow().contents_hash(), before, "{policy}, version {version}");
    }
}

/// A device can't be replaced by a copy.
#[test]
fn earlier_versions_on_a_device_are_refused_for_writing_and_the_present_one_is_not() {
    for (policy, version) in all() {
        let (world, media) = world_on("x25-e-64", media_of(&image(policy, version)));
        let before = media.borrow().contents_hash();
        let opened = run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, open_options()).await?;
            store.commit(batch(&store, &[5, 50], 77)).await?;
            assert_eq!(read(&store, 50).await, Some(77));
            store.close().await
        });
        if version == NEWEST_VERSION {
            opened.unwrap();
            continue;
        }
        assert_eq!(opened, Err(PageError::EarlierFormat { got: version, expected: NEWEST_VERSION }));
        assert_eq!(media.borrow().contents_hash(), before, "{policy}: a refused opening wrote");
    }
}

#[test]
fn stores_of_all_versions_in_files_are_converted_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    for (policy, version) in all() {
        let path = folder.path().join(format!("{policy}.{version}"));
        std::fs::write(&path, image(policy, version)).unwrap();
        let before = last_batch(&path);
        for turn in 0..3 {
            let mut store = PageStore::open_with(&path, open_options()).unwrap();
            assert_eq!((store.policy(), store.pages(), store.page_bytes()), (policy, 64, 4096));
            for (page, expected) in held() {
                let read = version_in(&store.read(page).unwrap(), page);
                let expected = if page == 50 && turn > 0 { Some(turn) } else { expected };
                assert_eq!(read, expected, "{policy}, version {version}, page {page}");
            }
            assert!(store.verify().unwrap() >= 36 || !policy.promises().checks_pages, "{policy}");
            assert!(store.last_durable_batch() >= before, "{policy}: batches have later numbers than before");
            let mut contents = [0; 4096];
            fill(&mut contents, 50, turn + 1);
            store.put(50, &contents).unwrap();
            assert!(store.commit().unwrap() > before || !policy.promises().atomic_batch, "{policy}");
            store.close().unwrap();
        }
        let label = std::fs::read(&path).unwrap();
        assert_eq!(u32::from_le_bytes(label[8..12].try_into().unwrap()), NEWEST_VERSION);
        let checks_pages = PageStore::open(&path).unwrap().promises().checks_pages;
        assert_eq!(checks_pages, policy.promises().checks_pages, "{policy}, version {version}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), all().count(), "nothing else is left");
}

fn last_batch(path: &Path) -> BatchNumber {
    let options = OpenOptions { read_only: true, ..open_options() };
    PageStore::open_with(path, options).unwrap().last_durable_batch()
}

fn media_of(image: &[u8]) -> Media {
    let mut media = Media::new(4 << 20, 512);
    let arena = Arena::new(image.len()).unwrap();
    let mut buffer = arena.allocate(image.len()).unwrap();
    buffer.copy_from_slice(image);
    let mut write = Operation::write(0, buffer.freeze());
    let id = media.begin(&write).unwrap();
    media.complete(id, &mut write).result.unwrap();
    media.fork()
}
