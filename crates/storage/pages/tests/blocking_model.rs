//! Blocking stores compared with a model: many threads read pages that others write.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{PAGE_BYTES, create_options, open_options, version_in};
use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageNumber, PolicyKind};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGES: u64 = 64;
const WRITERS: u64 = 4;
const READERS: u64 = 4;
const BATCHES: u64 = 150;

/// Version of each page in the last batch begun, and in the last batch acknowledged.
struct Model {
    begun: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
    is_over: AtomicBool,
}

impl Model {
    fn at(version: u64) -> Self {
        let all = || (0..PAGES).map(|_| AtomicU64::new(version)).collect();
        Self { begun: all(), acknowledged: all(), is_over: AtomicBool::new(false) }
    }
}

fn device(file: &tempfile::NamedTempFile) -> Arc<DeviceFile> {
    let file = std::fs::File::options().read(true).write(true).open(file.path()).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

fn put(store: &BlockingStore, batch: &mut Batch, page: u64, version: u64) {
    let mut buffer = store.buffer().unwrap();
    common::fill(&mut buffer, page, version);
    batch.put(PageNumber(page), buffer.freeze());
}

/// Writes this thread's own pages, one to eight at a time, in all ways.
fn write(store: &BlockingStore, model: &Model, writer: u64, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ writer);
    for _ in 0..BATCHES {
        let mut batch = Batch::new();
        let mut written = Vec::new();
        for _ in 0..random.random_range(1..=store.largest_batch().min(8)) {
            let page = random.random_range(0..PAGES / WRITERS) * WRITERS + writer;
            let version = model.begun[page as usize].fetch_add(1, Ordering::SeqCst) + 1;
            put(store, &mut batch, page, version);
            written.push((page, version));
        }
        match random.random_range(0..3) {
            0 => store.write(batch).unwrap(),
            1 => _ = store.commit(batch).unwrap(),
            _ => _ = store.submit_commit(batch).unwrap().wait().unwrap(),
        }
        for (page, version) in written {
            model.acknowledged[page as usize].fetch_max(version, Ordering::SeqCst);
        }
    }
}

/// Reads pages. Asserts that each is whole, no older than acknowledged at the start, no newer than
/// begun at the end, and no older than seen before.
fn read(store: &BlockingStore, model: &Model, reader: u64, seed: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x00ab_cdef ^ reader);
    let mut newest = vec![0; PAGES as usize];
    let mut reads = 0;
    while !model.is_over.load(Ordering::SeqCst) {
        let page = random.random_range(0..PAGES);
        let least = model.acknowledged[page as usize].load(Ordering::SeqCst).max(newest[page as usize]);
        let contents = match reads % 8 {
            0 => store.read_many(&[PageNumber(page)]).unwrap().swap_remove(0),
            _ => store.read(PageNumber(page)).unwrap(),
        };
        let most = model.begun[page as usize].load(Ordering::SeqCst);
        let version = version_in(&contents, page);
        let version = version.unwrap_or_else(|| panic!("seed {seed}: page {page} is torn or another's"));
        assert!(
            (least..=most).contains(&version),
            "seed {seed}: page {page}: {least} <= {version} <= {most}"
        );
        newest[page as usize] = version;
        reads += 1;
    }
    reads
}

fn stress(policy: PolicyKind, options: OpenOptions, seed: u64) {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(4 << 20).unwrap();
    let create = CreateOptions { pages: PAGES, ..create_options(policy) };
    let store = BlockingStore::create(device(&file), create, options).unwrap();
    for page in 0..PAGES {
        let mut batch = Batch::new();
        put(&store, &mut batch, page, 1);
        store.write(batch).unwrap();
    }
    store.checkpoint().unwrap();
    store.close().unwrap();
    // A reopened store doesn't have the checksum of a home page.
    let store = BlockingStore::open(device(&file), options).unwrap();
    let model = Model::at(1);
    std::thread::scope(|scope| {
        let (store, model) = (&store, &model);
        let readers: Vec<_> =
            (0..READERS).map(|reader| scope.spawn(move || read(store, model, reader, seed))).collect();
        let checkpoints = scope.spawn(move || {
            while !model.is_over.load(Ordering::SeqCst) {
                store.checkpoint().unwrap();
            }
        });
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(store, model, writer, seed))).collect();
        let written: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        model.is_over.store(true, Ordering::SeqCst);
        written.into_iter().for_each(|written| written.unwrap());
        checkpoints.join().unwrap();
        let reads: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(reads > 0);
    });
    store.close().unwrap();
    let store = BlockingStore::open(device(&file), options).unwrap();
    for page in 0..PAGES {
        let contents = store.read(PageNumber(page)).unwrap();
        let last = model.acknowledged[page as usize].load(Ordering::SeqCst);
        assert_eq!(version_in(&contents, page), Some(last), "seed {seed}: {policy}: page {page}");
    }
}

#[test]
fn readers_see_what_was_acknowledged() {
    let seed = 0x51ed;
    for policy in PolicyKind::ALL {
        stress(policy, open_options(), seed);
    }
}

/// Reads from slots of the staging area that are reused concurrently.
#[test]
fn readers_see_what_was_acknowledged_when_nothing_stays_in_memory() {
    let seed = 0x51ef;
    let options = OpenOptions { keep_bytes: 0, ..open_options() };
    for policy in [PolicyKind::StableBuffer, PolicyKind::StableRing, PolicyKind::Auto] {
        let turn_pages = (policy == PolicyKind::Auto).then_some(40);
        let experiments = nandle_pages::Experiments { turn_pages, ..Default::default() };
        stress(policy, OpenOptions { experiments, ..options }, seed);
    }
}

/// A repeated read bypasses the store's thread, wherever the page is.
#[test]
fn threads_read_beside_the_stores_own() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(4 << 20).unwrap();
    let policies = [PolicyKind::Direct, PolicyKind::StableBuffer, PolicyKind::StableRing, PolicyKind::Auto];
    for policy in policies.into_iter().chain([PolicyKind::OutOfPlace]) {
        let options = OpenOptions { keep_bytes: 0, ..open_options() };
        let store = BlockingStore::create(device(&file), create_options(policy), options).unwrap();
        let mut batch = Batch::new();
        put(&store, &mut batch, 5, 1);
        store.commit(batch).unwrap();
        let read = |times: u64| {
            for _ in 0..times {
                assert_eq!(version_in(&store.read(PageNumber(5)).unwrap(), 5), Some(1), "{policy}");
            }
            store.stats().unwrap()
        };
        // In memory, in a slot, or at home: at most two reads need the store's thread.
        for _ in 0..2 {
            let before = read(3);
            let after = read(100);
            assert_eq!(after.pages_read - before.pages_read, 100, "{policy}");
            assert_eq!(after.device_reads - before.device_reads, 100, "{policy}");
            assert_eq!(after.device_read_bytes - before.device_read_bytes, 100 * PAGE_BYTES as u64);
            store.checkpoint().unwrap();
        }
        store.close().unwrap();
    }
}
