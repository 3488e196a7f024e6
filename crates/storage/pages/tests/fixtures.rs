//! Stores that earlier versions wrote stay readable. Each fixture was left by a power cut: some pages are staged, some
//! at home, and one was discarded.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::path::PathBuf;

use common::{DEVICE, batch, create_options, model_world, open_options, read, run, world_on};
use nandle_io::{Arena, Operation};
use nandle_model::media::Media;
use nandle_pages::{Batch, PageNumber, PolicyKind, Store};

const BYTES: u64 = 1 << 20;

/// Of the format that new stores have.
const NEWEST_VERSION: u32 = 4;

fn path(policy: PolicyKind, version: u32) -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join(format!("tests/fixtures/{policy}.v{version}.zst"))
}

/// Writes the fixtures of this version anew: only for a new version of the format, under a new name.
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

#[test]
fn stores_of_all_versions_are_read_and_written() {
    for (version, policy) in
        (1..=NEWEST_VERSION).flat_map(|version| PolicyKind::ALL.map(|policy| (version, policy)))
    {
        let image = zstd::decode_all(std::fs::File::open(path(policy, version)).unwrap()).unwrap();
        let (world, _) = world_on("x25-e-64", media_of(&image));
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!((store.policy(), store.pages(), store.page_bytes()), (policy, 64, 4096));
            for page in (1..=30).filter(|page| *page != 3) {
                assert_eq!(read(&store, page).await, Some(page), "{policy}");
            }
            for page in 40..47 {
                let newest = (24..=30).find(|version| 40 + version % 7 == page);
                assert_eq!(read(&store, page).await, newest, "{policy}");
            }
            store.verify().await.unwrap();
            for version in 1..=40 {
                store.commit(batch(&store, &[version % 9, 50], version)).await.unwrap();
            }
            store.close().await.unwrap();
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!((read(&store, 50).await, read(&store, 20).await), (Some(40), Some(20)), "{policy}");
        });
    }
}

fn media_of(image: &[u8]) -> Media {
    let mut media = Media::new(4 << 20, 512);
    let arena = Arena::new(1 << 20).unwrap();
    let mut buffer = arena.allocate(image.len()).unwrap();
    buffer.copy_from_slice(image);
    let mut write = Operation::write(0, buffer.freeze());
    let id = media.begin(&write).unwrap();
    media.complete(id, &mut write).result.unwrap();
    media.fork()
}
