//! Concurrent reads of compressed pages by threads, on the real disk.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{create_options, open_options};
use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::{
    BLOCK_BYTES, Batch, BlockingStore, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LENGTH: usize = 16 << 10;
const PAGES: u64 = 64;
const WRITERS: u64 = 2;
const READERS: u64 = 4;
const BATCHES: u64 = 400;

/// Contents of a version of a page: noise of varying length and constant bytes. Compressed lengths
/// range from a few bytes to a page, and every fourth page is incompressible.
fn contents(page: u64, version: u64) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(page << 32 | version);
    let noise_bytes = if version.is_multiple_of(4) { LENGTH } else { random.random_range(0..LENGTH) };
    let mut bytes = vec![version as u8; LENGTH];
    random.fill_bytes(&mut bytes[..noise_bytes]);
    bytes[..8].copy_from_slice(&page.to_le_bytes());
    bytes[8..16].copy_from_slice(&version.to_le_bytes());
    bytes
}

/// Version in a page, which must be whole and belong to the page.
fn version_in(read: &[u8], page: u64) -> u64 {
    let version = u64::from_le_bytes(read[8..16].try_into().unwrap());
    assert!(*read == contents(page, version), "page {page} isn't its version {version}");
    version
}

fn put(store: &BlockingStore, batch: &mut Batch, page: u64, version: u64) {
    let mut buffer = store.buffer().unwrap();
    buffer.copy_from_slice(&contents(page, version));
    batch.put(PageNumber(page), buffer.freeze());
}

/// A store in a file with little spare space, which requires frequent cleaning.
fn store(options: OpenOptions) -> (tempfile::NamedTempFile, BlockingStore) {
    let create = CreateOptions {
        alignment_bytes: LENGTH as u64,
        spare_percent: 5,
        ..CreateOptions::new(PolicyKind::OutOfPlace, LENGTH, PAGES)
    };
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(create.device_bytes().unwrap()).unwrap();
    let store = BlockingStore::create(device(&file), create, options).unwrap();
    (file, store)
}

fn device(file: &tempfile::NamedTempFile) -> Arc<DeviceFile> {
    let file = File::options().read(true).write(true).open(file.path()).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

/// Version of each page in the last batch begun, and in the last batch acknowledged.
struct Model {
    begun: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
    is_over: AtomicBool,
}

/// Writes this thread's own pages. Half of the writes go to a few pages, so that cleaning moves the
/// others.
fn write(store: &BlockingStore, model: &Model, writer: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(writer);
    for _ in 0..BATCHES {
        let (mut batch, mut written) = (Batch::new(), Vec::new());
        let most = if random.random() { PAGES / WRITERS } else { 4 };
        for _ in 0..2 {
            let page = random.random_range(0..most) * WRITERS + writer;
            let version = model.begun[page as usize].fetch_add(1, Ordering::SeqCst) + 1;
            put(store, &mut batch, page, version);
            written.push((page, version));
        }
        store.commit(batch).unwrap();
        for (page, version) in written {
            model.acknowledged[page as usize].fetch_max(version, Ordering::SeqCst);
        }
    }
}

/// Asserts that each page read is whole, and at least as new as acknowledged when the read began.
fn read(store: &BlockingStore, model: &Model, reader: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(100 + reader);
    while !model.is_over.load(Ordering::SeqCst) {
        let page = random.random_range(0..PAGES);
        let least = model.acknowledged[page as usize].load(Ordering::SeqCst);
        let version = version_in(&store.read(PageNumber(page)).unwrap(), page);
        let most = model.begun[page as usize].load(Ordering::SeqCst);
        assert!((least..=most).contains(&version), "page {page}: {least} <= {version} <= {most}");
    }
}

#[test]
fn packed_pages_are_read_whole_while_they_are_written_and_moved() {
    let (file, store) = store(open_options());
    for page in 0..PAGES {
        let mut batch = Batch::new();
        put(&store, &mut batch, page, 1);
        store.write(batch).unwrap();
    }
    store.close().unwrap();
    let store = BlockingStore::open(device(&file), open_options()).unwrap();
    let all = || (0..PAGES).map(|_| AtomicU64::new(1)).collect();
    let model = Model { begun: all(), acknowledged: all(), is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let (store, model) = (&store, &model);
        for reader in 0..READERS {
            scope.spawn(move || read(store, model, reader));
        }
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(store, model, writer))).collect();
        let written: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        model.is_over.store(true, Ordering::SeqCst);
        written.into_iter().for_each(|written| written.unwrap());
    });
    let moved = store.stats().unwrap().pages_cleaned;
    assert!(moved > 100, "cleaning was hardly needed: {moved}");
    store.close().unwrap();
    let store = BlockingStore::open(device(&file), open_options()).unwrap();
    for page in 0..PAGES {
        let last = model.acknowledged[page as usize].load(Ordering::SeqCst);
        assert_eq!(version_in(&store.read(PageNumber(page)).unwrap(), page), last);
    }
}

/// Reads the blocks around a page, and no others.
#[test]
fn a_packed_page_is_read_in_one_request() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(4 << 20).unwrap();
    let create = CreateOptions { page_bytes: LENGTH, pages: 16, ..create_options(PolicyKind::OutOfPlace) };
    let store = BlockingStore::create(device(&file), create, open_options()).unwrap();
    let mut batch = Batch::new();
    for page in 0..2 {
        let mut buffer = store.buffer().unwrap();
        Xoshiro256PlusPlus::seed_from_u64(page).fill_bytes(&mut buffer[..5000]);
        buffer[5000..].fill(7);
        batch.put(PageNumber(page), buffer.freeze());
    }
    store.commit(batch).unwrap();
    // The store's thread performs the first reads and publishes the places.
    (0..2).for_each(|page| _ = store.read(PageNumber(page)).unwrap());
    let before = store.stats().unwrap();
    for page in [0, 1, 0, 1] {
        let read = store.read(PageNumber(page)).unwrap();
        assert!(read[5000..].iter().all(|byte| *byte == 7), "page {page}");
    }
    let after = store.stats().unwrap();
    assert_eq!((after.pages_read - before.pages_read, after.device_reads - before.device_reads), (4, 4));
    // About 5080 bytes each, contiguous: in blocks 0 and 1, and in 1 and 2.
    assert_eq!(after.device_read_bytes - before.device_read_bytes, 4 * 2 * BLOCK_BYTES as u64);
}

/// If any byte of any block changes, each page reads as written or returns an error.
#[test]
fn damaged_packed_pages_are_errors() {
    let (file, store) = store(open_options());
    let pages = 0..12;
    let mut batch = Batch::new();
    pages.clone().for_each(|page| put(&store, &mut batch, page, 1));
    store.commit(batch).unwrap();
    pages.clone().for_each(|page| assert_eq!(version_in(&store.read(PageNumber(page)).unwrap(), page), 1));
    let raw = File::options().read(true).write(true).open(file.path()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut damaged = 0;
    for block in 0..raw.metadata().unwrap().len() / BLOCK_BYTES as u64 {
        let offset_bytes = block * BLOCK_BYTES as u64 + random.random_range(0..BLOCK_BYTES as u64);
        let mut right = [0];
        raw.read_exact_at(&mut right, offset_bytes).unwrap();
        raw.write_all_at(&[right[0] ^ random.random_range(1..=u8::MAX)], offset_bytes).unwrap();
        for page in pages.clone() {
            match store.read(PageNumber(page)) {
                Ok(read) => assert_eq!(version_in(&read, page), 1, "block {block}"),
                Err(PageError::Damaged { page: PageNumber(of), .. }) if of == page => damaged += 1,
                Err(error) => panic!("block {block}, page {page}: {error}"),
            }
        }
        raw.write_all_at(&right, offset_bytes).unwrap();
    }
    assert!(damaged >= 12, "{damaged}");
    pages.for_each(|page| assert_eq!(version_in(&store.read(PageNumber(page)).unwrap(), page), 1));
}
