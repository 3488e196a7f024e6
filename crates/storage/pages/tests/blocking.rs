//! Blocking stores on the real disk.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::{create_options, open_options, version_in};
use nandle_io::{DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind};

fn device(path: &Path) -> Arc<DeviceFile> {
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(4 << 20).unwrap();
    file
}

/// Longer than a process's files outlive it, shorter than an opening waits.
const LOCKED_FOR: Duration = Duration::from_millis(300);

#[test]
fn an_opening_waits_for_who_is_about_to_let_go() {
    let file = file();
    let create = create_options(PolicyKind::Direct);
    BlockingStore::create(device(file.path()), create, open_options()).unwrap().close().unwrap();
    let other = std::fs::File::open(file.path()).unwrap();
    other.lock().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(LOCKED_FOR);
        drop(other);
    });
    BlockingStore::open(device(file.path()), open_options()).unwrap();
    other.join().unwrap();
}

/// Reserved blocks of a file stay reserved.
#[test]
fn discarded_pages_of_a_preallocated_file_stay_allocated() {
    let (file, policy) = (file(), PolicyKind::Direct);
    for (punch_holes, keeps) in [(false, true), (true, false)] {
        rustix::fs::fallocate(file.as_file(), rustix::fs::FallocateFlags::empty(), 0, 4 << 20).unwrap();
        let before = file.as_file().metadata().unwrap().blocks();
        let opened = std::fs::File::options().read(true).write(true).open(file.path()).unwrap();
        let options = FileOptions { punch_holes, ..FileOptions::default() };
        let device = Arc::new(DeviceFile::new(opened, options).unwrap());
        let store = BlockingStore::create(device, create_options(policy), open_options()).unwrap();
        store.commit(batch(&store, 3, 1)).unwrap();
        let mut gone = Batch::new();
        gone.discard(PageNumber(3));
        store.commit(gone).unwrap();
        store.close().unwrap();
        assert_eq!(
            file.as_file().metadata().unwrap().blocks() >= before,
            keeps,
            "punch_holes: {punch_holes}"
        );
    }
}

fn batch(store: &BlockingStore, page: u64, version: u64) -> Batch {
    let mut batch = Batch::new();
    let mut buffer = store.buffer().unwrap();
    common::fill(&mut buffer, page, version);
    batch.put(PageNumber(page), buffer.freeze());
    batch
}

#[test]
fn threads_share_a_store_and_its_flushes() {
    for policy in PolicyKind::ALL {
        let file = file();
        let store =
            BlockingStore::create(device(file.path()), create_options(policy), open_options()).unwrap();
        let before = store.stats().unwrap().device_flushes;
        std::thread::scope(|scope| {
            for page in 0..8 {
                let store = store.clone();
                scope.spawn(move || {
                    for version in 1..=20 {
                        store.commit(batch(&store, page, version)).unwrap();
                        let contents = store.read(PageNumber(page)).unwrap();
                        assert_eq!(version_in(&contents, page), Some(version));
                    }
                });
            }
        });
        assert_eq!(store.verify().unwrap(), 8);
        let flushes = store.stats().unwrap().device_flushes - before;
        assert!(flushes > 0, "{policy}");
        store.checkpoint().unwrap();
        let other = store.clone();
        store.close().unwrap();
        assert!(matches!(other.sync(), Err(PageError::Thread { .. })));
        drop(other);
        let store = BlockingStore::open(device(file.path()), open_options()).unwrap();
        for page in 0..8 {
            assert_eq!(version_in(&store.read(PageNumber(page)).unwrap(), page), Some(20), "{policy}");
        }
    }
}

#[test]
fn a_second_opening_is_refused() {
    let file = file();
    let create = create_options(PolicyKind::StableRing);
    let open_file = device(file.path());
    let store = BlockingStore::create(Arc::clone(&open_file), create.clone(), open_options()).unwrap();
    let read_only = OpenOptions { read_only: true, ..open_options() };
    for options in [open_options(), read_only] {
        for file in [device(file.path()), Arc::clone(&open_file)] {
            assert_eq!(BlockingStore::open(file, options).unwrap_err(), PageError::Locked);
        }
    }
    assert_eq!(
        BlockingStore::create(device(file.path()), create, open_options()).unwrap_err(),
        PageError::Locked
    );
    store.close().unwrap();
    let first = BlockingStore::open(device(file.path()), read_only).unwrap();
    let second = BlockingStore::open(device(file.path()), read_only).unwrap();
    assert_eq!(first.commit(Batch::new()).unwrap_err(), PageError::ReadOnly);
    second.close().unwrap();
}

#[test]
fn foreign_and_truncated_files_are_named() {
    let file = file();
    let error = BlockingStore::open(device(file.path()), open_options()).unwrap_err();
    assert!(matches!(error, PageError::NotAStore { .. }), "{error}");
    BlockingStore::create(device(file.path()), create_options(PolicyKind::Direct), open_options())
        .unwrap()
        .close()
        .unwrap();
    file.as_file().set_len(100 << 10).unwrap();
    let error = BlockingStore::open(device(file.path()), open_options()).unwrap_err();
    assert!(matches!(error, PageError::TooSmall { .. }), "{error}");
}

#[test]
fn a_store_tells_the_world_that_it_is_in() {
    let file = file();
    let options = create_options(PolicyKind::StableRing);
    let store = BlockingStore::create(device(file.path()), options, open_options()).unwrap();
    let backend = store.backend().unwrap();
    match nandle_io::Uring::new(8) {
        Ok(_) => assert_eq!(backend.name, "io_uring"),
        Err(refusal) => {
            assert_eq!(backend.name, "threads");
            assert!(backend.stepped_down.contains(&refusal.to_string()), "{backend:?}");
        }
    }
}

/// Runs in its own process, as the shortage affects the whole process.
#[test]
fn a_shortage_is_no_reason_to_do_without_the_ring() {
    let me = std::env::current_exe().unwrap();
    let child = std::process::Command::new(me)
        .args(["--exact", "out_of_descriptors", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "takes all descriptors of its process; another test runs it in one of its own"]
fn out_of_descriptors() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let file = file();
    let device = device(file.path());
    let limit = Rlimit { current: Some(64), maximum: Some(64) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    let error =
        BlockingStore::create(device, create_options(PolicyKind::Direct), open_options()).unwrap_err();
    drop(taken);
    assert!(matches!(error, PageError::World { .. }), "{error}");
    assert!(error.to_string().contains("RLIMIT_NOFILE"), "{error}");
}

#[test]
fn a_batch_is_limited_before_there_is_a_store() {
    let sizes = [(128 << 10, 4096), (1 << 20, 4096), (8 << 20, 1 << 20)];
    for (policy, (buffer_bytes, alignment_bytes)) in
        PolicyKind::ALL.into_iter().flat_map(|policy| sizes.map(|size| (policy, size)))
    {
        let (file, open) = (file(), open_options());
        let create = CreateOptions { buffer_bytes, alignment_bytes, ..create_options(policy) };
        file.as_file().set_len(create.device_bytes().unwrap()).unwrap();
        let promised = create.largest_batch(&open).unwrap();
        let store = BlockingStore::create(device(file.path()), create, open).unwrap();
        let largest = store.largest_batch();
        match policy {
            // A lower bound for the maximum number of lifetime groups: their headers fill a small
            // zone.
            PolicyKind::OutOfPlace if alignment_bytes == 4096 => assert!((1..=largest).contains(&promised)),
            PolicyKind::OutOfPlace => assert!((largest / 2..=largest).contains(&promised), "{promised}"),
            _ => assert_eq!(promised, largest, "{policy}"),
        }
    }
}

#[test]
fn what_is_submitted_is_done_in_order_without_waiting() {
    for policy in PolicyKind::ALL {
        let file = file();
        let store =
            BlockingStore::create(device(file.path()), create_options(policy), open_options()).unwrap();
        let commits: Vec<_> = (1..=60)
            .map(|version| store.submit_commit(batch(&store, version % 3, version)).unwrap())
            .collect();
        for commit in commits {
            commit.wait().unwrap();
        }
        let read = store.submit_read(PageNumber(0)).unwrap();
        assert_eq!(version_in(&read.wait().unwrap(), 0), Some(60), "{policy}");
        let pages = [2, 0, 1, 2].map(PageNumber);
        let contents = store.read_many(&pages).unwrap();
        for (PageNumber(page), contents) in pages.into_iter().zip(contents) {
            assert_eq!(version_in(&contents, page), Some(if page == 0 { 60 } else { 57 + page }), "{policy}");
        }
        let beyond = store.read_many(&[PageNumber(0), PageNumber(64)]).unwrap_err();
        assert!(matches!(beyond, PageError::BeyondEnd { .. }), "{beyond}");
        let late = store.submit_commit(batch(&store, 1, 99)).unwrap();
        let other = store.clone();
        store.close().unwrap();
        late.wait().unwrap();
        assert!(matches!(other.read(PageNumber(1)), Err(PageError::Thread { .. })), "{policy}");
        drop(other);
        let store = BlockingStore::open(device(file.path()), open_options()).unwrap();
        assert_eq!(version_in(&store.read(PageNumber(1)).unwrap(), 1), Some(99), "{policy}");
    }
}

#[test]
fn more_pages_than_there_is_memory_for_are_read_by_one_call() {
    let options = OpenOptions { memory_bytes: 512 << 10, gather_bytes: 0, ..open_options() };
    for policy in PolicyKind::ALL {
        let file = file();
        let store = BlockingStore::create(device(file.path()), create_options(policy), options).unwrap();
        for page in 0..64 {
            store.commit(batch(&store, page, 100 + page)).unwrap();
        }
        let pages: Vec<_> = (0..1000).map(|nth| PageNumber(nth * 7 % 64)).collect();
        for holds_all in [false, true] {
            let all_pages = if holds_all { options.memory_bytes / store.page_bytes() } else { 0 };
            let held: Vec<_> = (0..all_pages).map(|_| store.buffer().unwrap()).collect();
            for pages in [&pages[..5], &pages] {
                let contents = store.read_many(pages).unwrap();
                assert_eq!(contents.len(), pages.len());
                for (PageNumber(page), contents) in pages.iter().zip(contents) {
                    assert_eq!(version_in(&contents, *page), Some(100 + page), "{policy}");
                }
            }
            drop(held);
            store.commit(batch(&store, 1, 101)).unwrap();
        }
    }
}

/// Upper bound on these commits during a checkpoint of sixty pages.
const COMMITS_MOST: u64 = 20_000;

#[test]
fn a_checkpoint_ends_while_others_commit() {
    for policy in PolicyKind::ALL {
        let file = file();
        let store =
            BlockingStore::create(device(file.path()), create_options(policy), open_options()).unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for page in 0..4 {
                let (store, is_over) = (&store, &is_over);
                scope.spawn(move || {
                    for version in 1..=COMMITS_MOST {
                        store.commit(batch(store, page * 16 + version % 16, version)).unwrap();
                        if is_over.load(std::sync::atomic::Ordering::SeqCst) {
                            return;
                        }
                    }
                    panic!("{policy}: the checkpoint has not ended");
                });
            }
            for _ in 0..3 {
                store.checkpoint().unwrap();
            }
            is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        store.close().unwrap();
    }
}

#[test]
fn a_store_runs_in_any_world_that_other_threads_can_wake() {
    let files = [file(), file()];
    let open = || {
        let devices: Vec<_> = files.iter().map(|file| device(file.path())).collect();
        move || {
            let mut world = nandle_io::Threads::new(16);
            let ids: Vec<_> = devices.into_iter().map(|file| world.add(file).id).collect();
            let mut arrays = nandle_io::Arrays::new(Box::new(world));
            let striped = arrays.raid0(&ids, 64 << 10).unwrap().id;
            (Box::new(arrays) as Box<dyn nandle_io::Io>, striped)
        }
    };
    let create = create_options(PolicyKind::StableRing);
    let store = BlockingStore::create_in(open(), create.clone(), open_options()).unwrap();
    store.commit(batch(&store, 33, 1)).unwrap();
    store.close().unwrap();
    let store = BlockingStore::open_in(open(), open_options()).unwrap();
    assert_eq!(version_in(&store.read(PageNumber(33)).unwrap(), 33), Some(1));
    let refused =
        BlockingStore::create_in(|| (common::memory_world(), common::DEVICE), create, open_options());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("no other thread can wake"), "{refused}");
}
