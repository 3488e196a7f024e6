//! Batches of 1 000 pages, which a store with default options always accepts, and power cuts during
//! them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use common::{DEVICE, PAGE_BYTES, batch, read, run, world_on};
use nandle_io::Shape;
use nandle_model::library::Model;
use nandle_model::media::{CrashImages, Media, PowerCut};
use nandle_pages::{CreateOptions, OpenOptions, PageOptions, PageStore, PolicyKind, Store};

const MODEL: &str = "x25-e-64";
const PAGES: u64 = 2500;
const CHANGES: usize = 1000;
/// More than fits a staging area or the free zones.
const BATCHES: u64 = 6;

fn whole() -> impl Iterator<Item = PolicyKind> {
    PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch)
}

fn create_options(policy: PolicyKind) -> CreateOptions {
    CreateOptions::new(policy, PAGE_BYTES, PAGES)
}

/// Pages of batch `version`, some of which other batches change too.
fn changed(version: u64) -> Vec<u64> {
    (0..CHANGES as u64).map(|change| (version * 700 + change * 7) % PAGES).collect()
}

#[test]
fn default_options_take_a_thousand_pages() {
    for policy in whole() {
        let most = create_options(policy).largest_batch(&OpenOptions::default()).unwrap();
        assert!(most >= CHANGES, "{policy}: {most}");
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = PageOptions::new(PAGES).with_policy(policy);
        let mut store = PageStore::create(folder.path().join("pages"), options).unwrap();
        assert!(store.largest_commit() >= CHANGES, "{policy}: {}", store.largest_commit());
        for page in changed(0) {
            store.put(page, &[7; PAGE_BYTES]).unwrap();
        }
        store.commit().unwrap();
        assert_eq!(store.read(changed(0)[CHANGES - 1]).unwrap(), [7; PAGE_BYTES], "{policy}");
    }
}

/// Newest version of a page after the first `batches` batches.
fn version_after(page: u64, batches: u64) -> Option<u64> {
    (1..=batches).rev().find(|version| changed(*version).contains(&page))
}

#[test]
fn a_large_batch_is_there_as_a_whole_or_not_at_all() {
    let shape = Shape { capacity_bytes: 48 << 20, ..Model::named(MODEL).unwrap().device().unwrap().shape };
    for policy in whole() {
        let (world, media) = world_on(MODEL, Media::of_shape(&shape));
        run(world, async |handle| {
            let options = create_options(policy);
            let store = Store::create(&handle, DEVICE, &options, OpenOptions::default()).await.unwrap();
            store.close().await.unwrap();
        });
        let media = media.borrow().fork().recorded();
        let (world, media) = world_on(MODEL, media);
        let mut acknowledged = Vec::new();
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, OpenOptions::default()).await.unwrap();
            for version in 1..=BATCHES {
                store.commit(batch(&store, &changed(version), version)).await.unwrap();
                acknowledged.push(media.borrow().position());
            }
        });
        let media = media.borrow();
        let recordings = [media.recording().unwrap()];
        let cuts = PowerCut { choices: 1, ..PowerCut::seeded(3) };
        let (mut images, mut torn) = (0, 0);
        for image in CrashImages::new(&recordings, cuts).step_by(8) {
            let promised = acknowledged.iter().filter(|at| **at <= image.cut).count() as u64;
            let (world, _) = world_on(MODEL, Media::on(image.contents[0].clone()));
            run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, OpenOptions::default()).await.unwrap();
                let sample: Vec<u64> = (0..PAGES).step_by(23).collect();
                let mut found = Vec::new();
                for page in &sample {
                    found.push(read(&store, *page).await);
                }
                let explains = |batches: &u64| {
                    sample.iter().zip(&found).all(|(page, found)| *found == version_after(*page, *batches))
                };
                let explained = (promised..=BATCHES).find(explains);
                assert!(explained.is_some(), "{policy}, cut {}: {found:?}", image.cut);
                torn += u64::from(explained < Some(BATCHES));
            });
            images += 1;
        }
        assert!(images > 4 && torn > 2, "{policy}: {images} images, {torn} of them in batches");
    }
}
