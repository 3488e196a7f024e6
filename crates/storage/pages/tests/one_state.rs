//! Reads of many pages during commits, and dropped calls.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use common::{create_options, fill, open_options, version_in};
use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, PageNumber, PageOptions, PageStore, PolicyKind};

const ATOMIC: [PolicyKind; 4] =
    [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing, PolicyKind::OutOfPlace];
/// More pages than are read concurrently with this memory, but fewer than fit a batch.
const PAGES: [u64; 12] = [0, 3, 4, 9, 17, 18, 19, 30, 31, 45, 62, 63];
const COMMITS: u64 = 150;

fn device(path: &Path) -> Arc<DeviceFile> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(8 << 20).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

fn batch(store: &BlockingStore, version: u64, count: usize) -> Batch {
    let mut batch = Batch::new();
    for page in &PAGES[..count] {
        let mut contents = store.buffer().unwrap();
        fill(&mut contents, *page, version);
        batch.put(PageNumber(*page), contents.freeze());
    }
    batch
}

#[test]
fn many_pages_are_of_one_state_beside_commits() {
    let folder = tempfile::tempdir().unwrap();
    for policy in ATOMIC {
        let options = create_options(policy);
        let device = device(&folder.path().join(policy.name()));
        let store = BlockingStore::create(device, options, open_options()).unwrap();
        let count = PAGES.len().min(store.largest_batch());
        store.commit(batch(&store, 1, count)).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for version in 2..=COMMITS {
                    store.commit(batch(&store, version, count)).unwrap();
                }
                is_over.store(true, SeqCst);
            });
            let pages: Vec<_> = PAGES[..count].iter().copied().map(PageNumber).collect();
            let mut newest = 1;
            while !is_over.load(SeqCst) {
                let contents = store.read_many(&pages).unwrap();
                let versions: Vec<_> =
                    pages.iter().zip(&contents).map(|(page, it)| version_in(it, page.0).unwrap()).collect();
                assert!(versions.iter().all(|version| *version == versions[0]), "{policy}: {versions:?}");
                assert!(versions[0] >= newest, "{policy}: {} after {newest}", versions[0]);
                newest = versions[0];
            }
        });
    }
}

#[test]
fn what_a_dropped_ticket_asked_for_is_done() {
    let folder = tempfile::tempdir().unwrap();
    for policy in ATOMIC {
        let device = device(&folder.path().join(policy.name()));
        let store = BlockingStore::create(device, create_options(policy), open_options()).unwrap();
        for version in 1..20 {
            drop(store.submit_read(PageNumber(3)).unwrap());
            drop(store.submit_read_many(&[PageNumber(0), PageNumber(3)]).unwrap());
            drop(store.submit_commit(batch(&store, version, 4)).unwrap());
        }
        // Accepted after all others.
        let mut last = Batch::new();
        last.discard(PageNumber(50));
        store.commit(last).unwrap();
        for page in &PAGES[..4] {
            let contents = store.read(PageNumber(*page)).unwrap();
            assert_eq!(version_in(&contents, *page), Some(19), "{policy}");
        }
    }
}

#[test]
fn a_handle_reads_its_own_changes_on_top_of_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = PageStore::create(folder.path().join("pages"), PageOptions::new(64)).unwrap();
    store.put(1, &[1; 4096]).unwrap();
    store.put(2, &[2; 4096]).unwrap();
    store.commit().unwrap();
    store.put(2, &[3; 4096]).unwrap();
    store.discard(5).unwrap();
    let read = store.read_many(&[2, 1, 5, 2]).unwrap();
    assert_eq!(read.iter().map(|page| page[0]).collect::<Vec<_>>(), [3, 1, 0, 3]);
    assert!(read.iter().all(|page| page.len() == 4096));
    assert_eq!(store.clone().read_many(&[2]).unwrap()[0][0], 2, "another handle sees what is committed");
    assert!(store.read_many(&[64]).is_err());
}
