//! Eight pages of memory suffice under every policy. Less is refused with the required bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "all of it is tests")]

use std::collections::BTreeMap;

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Nanos};
use nandle_pages::{
    Batch, CreateOptions, OpenOptions, PageError, PageNumber, PageOptions, PageStore, PolicyKind, Store,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGES: u64 = 96;
const DEVICE: DeviceId = DeviceId::from_index(0);

fn open(pages: usize, page_bytes: usize) -> OpenOptions {
    OpenOptions { memory_bytes: pages * page_bytes, gather_bytes: 0, ..OpenOptions::default() }
}

/// Commits, checkpoints, closes and reopens, with many rewrites of every page.
fn live(policy: PolicyKind, memory_pages: usize, page_bytes: usize, seed: u64) {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    world.add(64 << 20, 512);
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let options = open(memory_pages, page_bytes);
    let create = CreateOptions {
        alignment_bytes: 4096,
        buffer_bytes: 48 * page_bytes as u64,
        spare_percent: 0,
        ..CreateOptions::new(policy, page_bytes, PAGES)
    };
    runtime.block_on(async {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut held: BTreeMap<u64, u8> = BTreeMap::new();
        let mut store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
        for round in 1..=240_u8 {
            let most = store.largest_batch().min(12);
            let mut batch = Batch::new();
            for _ in 0..random.random_range(1..=most) {
                let page = random.random_range(0..PAGES);
                let mut contents = store.buffer().unwrap();
                random.fill(&mut contents[..]);
                contents[0] = round;
                batch.put(PageNumber(page), contents.freeze());
                held.insert(page, round);
            }
            store.commit(batch).await.unwrap_or_else(|error| panic!("{policy}, {round}: {error}"));
            if round.is_multiple_of(60) {
                store.checkpoint().await.unwrap();
            }
            if round.is_multiple_of(80) {
                store.close().await.unwrap();
                store = Store::open(&handle, DEVICE, options).await.unwrap();
            }
            let page = random.random_range(0..PAGES);
            if let Some(version) = held.get(&page) {
                assert_eq!(store.read(PageNumber(page)).await.unwrap()[0], *version, "{policy}");
            }
        }
        // Equivalent to a power cut.
        drop(store);
        let store = Store::open(&handle, DEVICE, options).await.unwrap();
        for (page, version) in held {
            assert_eq!(store.read(PageNumber(page)).await.unwrap()[0], version, "{policy}: page {page}");
        }
        store.close().await.unwrap();
    });
}

#[test]
fn eight_pages_of_memory_do_for_a_life() {
    for policy in PolicyKind::ALL {
        for (memory_pages, page_bytes, seed) in [(8, 4096, 1), (8, 16_384, 2), (17, 4096, 3), (32, 4096, 4)] {
            live(policy, memory_pages, page_bytes, seed);
        }
    }
}

#[test]
fn less_is_refused_with_the_bytes_that_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        for page_bytes in [4096, 65_536] {
            let path = folder.path().join(format!("{policy}-{page_bytes}"));
            let options = PageOptions::new(PAGES).with_policy(policy).with_page_bytes(page_bytes);
            let few = OpenOptions { memory_bytes: 8 * page_bytes - 1, ..OpenOptions::default() };
            let refused = PageStore::create(&path, options.clone().with_open(few)).unwrap_err();
            let (got, needed) = (8 * page_bytes as u64 - 1, 8 * page_bytes as u64);
            assert_eq!(refused, PageError::LeastMemory { got, needed });
            assert!(!path.exists(), "a creation that failed leaves no file");
        }
    }
}

/// Several handles put, commit and read concurrently.
#[test]
fn handles_share_eight_pages() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        let options = PageOptions::new(PAGES).with_policy(policy).with_open(open(8, 4096));
        let store = PageStore::create(folder.path().join(policy.name()), options).unwrap();
        std::thread::scope(|scope| {
            for handle in 0..4_u64 {
                let mut store = store.clone();
                scope.spawn(move || {
                    for round in 1..=40_u8 {
                        for page in [handle, 4 + handle].into_iter().take(store.largest_commit()) {
                            store.put(page, &[round; 4096]).unwrap();
                        }
                        store.commit().unwrap_or_else(|error| panic!("{policy}, {round}: {error}"));
                        assert_eq!(store.read(handle).unwrap(), [round; 4096]);
                    }
                });
            }
        });
        store.close().unwrap();
    }
}
