//! The store for beginners: its own file, with bytes in and out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::version_in;
use nandle_pages::{OpenOptions, PageError, PageOptions, PageStore, PolicyKind};

const PAGE_BYTES: usize = 4096;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Options of a small store.
fn options(policy: PolicyKind) -> PageOptions {
    PageOptions::new(64).with_policy(policy).with_buffer_bytes(1 << 20)
}

fn contents(page: u64, version: u64) -> Vec<u8> {
    let mut contents = vec![0; PAGE_BYTES];
    common::fill(&mut contents, page, version);
    contents
}

fn version_of(store: &PageStore, page: u64) -> Option<u64> {
    version_in(&store.read(page).unwrap(), page)
}

#[test]
fn what_was_committed_is_read_before_and_after_opening_again_under_every_policy() {
    let folder = folder();
    for policy in PolicyKind::ALL {
        let path = folder.path().join(policy.name());
        let mut store = PageStore::create(&path, options(policy)).unwrap();
        assert_eq!((store.pages(), store.page_bytes(), store.policy()), (64, PAGE_BYTES, policy));
        assert_eq!(store.promises(), policy.promises());
        for (page, version) in [(7, 1), (3, 2), (63, 3), (7, 4)] {
            store.put(page, &contents(page, version)).unwrap();
        }
        store.commit().unwrap();
        for (page, version) in [(7, Some(4)), (3, Some(2)), (63, Some(3)), (4, None)] {
            assert_eq!(version_of(&store, page), version, "{policy}");
        }
        store.checkpoint().unwrap();
        store.close().unwrap();
        let store = PageStore::open(&path).unwrap();
        for (page, version) in [(7, Some(4)), (3, Some(2)), (63, Some(3))] {
            assert_eq!(version_of(&store, page), version, "{policy}");
        }
        assert_eq!(store.read(4).unwrap(), vec![0; PAGE_BYTES], "{policy}: never written");
        if store.promises().checks_pages {
            assert_eq!(store.verify().unwrap(), 3, "{policy}");
        }
    }
}

#[test]
fn a_handle_sees_its_own_changes_and_others_see_them_when_they_are_committed() {
    let folder = folder();
    let mut store = PageStore::create(folder.path().join("pages"), options(PolicyKind::StableRing)).unwrap();
    let mut other = store.clone();
    store.put(1, &contents(1, 5)).unwrap();
    other.put(2, &contents(2, 6)).unwrap();
    assert_eq!((version_of(&store, 1), version_of(&other, 1)), (Some(5), None));
    store.commit().unwrap();
    assert_eq!((version_of(&other, 1), version_of(&store, 2)), (Some(5), None));
    other.rollback();
    other.commit().unwrap();
    assert_eq!((version_of(&other, 2), version_of(&store, 2)), (None, None));
    store.discard(1).unwrap();
    assert_eq!(store.read(1).unwrap(), vec![0; PAGE_BYTES]);
    store.put(1, &contents(1, 7)).unwrap();
    store.commit().unwrap();
    assert_eq!(version_of(&other, 1), Some(7));
    store.close().unwrap();
    assert!(matches!(other.commit(), Err(PageError::Thread { .. })));
}

#[test]
fn wrong_sizes_and_pages_are_refused_by_name_and_change_nothing() {
    let folder = folder();
    let path = folder.path().join("pages");
    let mut store = PageStore::create(&path, options(PolicyKind::StableRing)).unwrap();
    let short = store.put(1, &[1; 100]).unwrap_err();
    assert!(matches!(short, PageError::PageLength { got: 100, expected: PAGE_BYTES, .. }), "{short}");
    let beyond = store.put(64, &[1; PAGE_BYTES]).unwrap_err();
    assert!(matches!(beyond, PageError::BeyondEnd { pages: 64, .. }), "{beyond}");
    assert!(matches!(store.discard(64), Err(PageError::BeyondEnd { .. })));
    let last = store.put(u64::MAX, &[1; PAGE_BYTES]).unwrap_err().to_string();
    assert!(last.contains("page 18446744073709551615 is beyond the end"), "{last}");
    assert!(matches!(store.read(64), Err(PageError::BeyondEnd { .. })));
    assert!(matches!(store.read_into(1, &mut [0; 10]), Err(PageError::PageLength { .. })));
    store.commit().unwrap();
    assert_eq!(store.stats().unwrap().pages_written, 0);
    let odd = PageStore::create(folder.path().join("odd"), PageOptions::new(9).with_page_bytes(5000));
    assert!(matches!(odd, Err(PageError::PageSize { got: 5000, .. })));
    assert!(!folder.path().join("odd").exists());
}

#[test]
fn a_commit_has_as_many_pages_as_was_said() {
    let folder = folder();
    let path = folder.path().join("pages");
    let create = PageOptions::new(2000).with_buffer_bytes(1 << 20);
    let mut store = PageStore::create(&path, create).unwrap();
    let most = store.largest_commit() as u64;
    for page in 0..most {
        store.put(page, &contents(page, 1)).unwrap();
    }
    store.put(0, &contents(0, 2)).unwrap();
    let error = store.put(most, &contents(most, 1)).unwrap_err();
    assert!(matches!(error, PageError::BatchTooLarge { .. }), "{error}");
    store.commit().unwrap();
    assert_eq!((version_of(&store, 0), version_of(&store, most - 1)), (Some(2), Some(1)));
    assert_eq!(version_of(&store, most), None);
}

/// Commits that together exceed the memory by far.
#[test]
fn threads_wait_for_memory() {
    let folder = folder();
    for policy in PolicyKind::ALL {
        let open = OpenOptions { memory_bytes: 1 << 20, ..OpenOptions::default() };
        let create = PageOptions::new(1024).with_policy(policy).with_buffer_bytes(1 << 20).with_open(open);
        let store = PageStore::create(folder.path().join(policy.name()), create).unwrap();
        let pages = (store.largest_commit() as u64).min(48);
        assert!(pages > 8, "{policy}: {pages}");
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let mut store = store.clone();
                scope.spawn(move || {
                    for version in 1..=10 {
                        for page in thread * 64..thread * 64 + pages {
                            store.put(page, &contents(page, version)).unwrap();
                        }
                        store.commit().unwrap();
                        for page in thread * 64..thread * 64 + pages {
                            assert_eq!(version_of(&store, page), Some(version), "{policy}");
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn room_for_fewer_pages_than_it_has_makes_no_store() {
    let folder = folder();
    for policy in [PolicyKind::StableRing, PolicyKind::Direct] {
        let path = folder.path().join(policy.to_string());
        let options = PageOptions::new(100).with_policy(policy).with_pages_max(10);
        let refused = PageStore::create(&path, options).unwrap_err();
        assert_eq!(refused, PageError::PagesMax { pages: 100, pages_max: 10 });
        assert!(!path.exists());
    }
}

#[test]
fn a_file_that_is_not_ours_is_named_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("letters");
    std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
    let taken = PageStore::create(&path, options(PolicyKind::Direct)).unwrap_err();
    assert!(matches!(taken, PageError::File { kind: ErrorKind::AlreadyExists, .. }), "{taken}");
    assert!(taken.to_string().contains("letters"), "{taken}");
    let foreign = PageStore::open(&path).unwrap_err();
    assert!(matches!(foreign, PageError::NotAStoreFile { .. }), "{foreign}");
    assert!(foreign.to_string().contains("letters holds no page store"), "{foreign}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 100_000]);
    let empty = folder.path().join("empty");
    std::fs::write(&empty, []).unwrap();
    let error = PageStore::open(&empty).unwrap_err();
    assert!(matches!(error, PageError::NotAStoreFile { .. }), "{error}");
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    let missing = PageStore::open(folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, PageError::File { kind: ErrorKind::NotFound, .. }), "{missing}");
    let nowhere = PageStore::create(folder.path().join("no/store"), options(PolicyKind::Direct)).unwrap_err();
    assert!(nowhere.to_string().contains("name a folder that is there"), "{nowhere}");
    let no_file = PageStore::open("/dev/null").unwrap_err();
    assert!(matches!(no_file, PageError::File { kind: ErrorKind::Unsupported, .. }), "{no_file}");
}

#[test]
fn a_store_cut_short_is_named() {
    let folder = folder();
    let path = folder.path().join("pages");
    PageStore::create(&path, options(PolicyKind::StableRing)).unwrap().close().unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let error = PageStore::open(&path).unwrap_err();
    assert!(matches!(error, PageError::TooSmall { capacity_bytes: 1_048_576, .. }), "{error}");
}

#[test]
fn the_file_has_its_blocks_from_the_beginning() {
    let folder = folder();
    let path = folder.path().join("pages");
    let store = PageStore::create(&path, options(PolicyKind::StableRing)).unwrap();
    let file = std::fs::metadata(&path).unwrap();
    let is_reserved = file.blocks() * 512 >= file.len();
    let backend = store.backend().unwrap();
    assert_eq!(
        is_reserved,
        !backend.stepped_down.iter().any(|what| what.contains("reserved")),
        "{backend:?}"
    );
}

#[test]
fn growth_that_no_file_takes_and_of_a_store_that_is_only_read_changes_nothing() {
    let folder = folder();
    let path = folder.path().join("pages");
    let store = PageStore::create(&path, options(PolicyKind::Direct)).unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    for pages in [u64::MAX, 1 << 62] {
        let refused = store.grow(pages).unwrap_err();
        assert!(matches!(refused, PageError::File { kind: ErrorKind::FileTooLarge, .. }), "{refused}");
        assert!(refused.to_string().contains("take fewer pages"), "{refused}");
    }
    store.close().unwrap();
    let read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    let store = PageStore::open_with(&path, read_only).unwrap();
    assert_eq!(store.grow(200), Err(PageError::ReadOnly));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
}

#[test]
fn no_direct_io_is_told() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let store = PageStore::create(folder.path().join("pages"), options(PolicyKind::Direct)).unwrap();
    let backend = store.backend().unwrap();
    assert!(backend.stepped_down.iter().any(|what| what.contains("direct I/O")), "{backend:?}");
}

#[test]
fn a_store_is_read_by_many_or_written_by_one() {
    let folder = folder();
    let path = folder.path().join("pages");
    let mut store = PageStore::create(&path, options(PolicyKind::StableRing)).unwrap();
    store.put(5, &contents(5, 1)).unwrap();
    store.commit().unwrap();
    store.close().unwrap();
    let read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    let mut first = PageStore::open_with(&path, read_only).unwrap();
    let second = PageStore::open_with(&path, read_only).unwrap();
    assert_eq!((version_of(&first, 5), version_of(&second, 5)), (Some(1), Some(1)));
    first.put(5, &contents(5, 2)).unwrap();
    assert_eq!(first.commit(), Err(PageError::ReadOnly));
    assert_eq!(PageStore::open(&path).unwrap_err(), PageError::Locked);
}

/// Runs an ignored test in its own process.
fn child(test: &str, path: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--ignored", "--nocapture"]).env("NANDLE_STORE", path);
    child
}

fn path_of_child() -> std::path::PathBuf {
    std::env::var_os("NANDLE_STORE").unwrap().into()
}

#[test]
fn a_store_of_another_process_is_locked_until_that_ends() {
    let folder = folder();
    let path = folder.path().join("pages");
    PageStore::create(&path, options(PolicyKind::StableRing)).unwrap().close().unwrap();
    let mut other = child("commits_until_killed", &path).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().starts_with("committed")));
    assert_eq!(PageStore::open(&path).unwrap_err(), PageError::Locked);
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(version_of(&PageStore::open(&path).unwrap(), 0).is_some());
}

/// Each of two threads always changes two pages together. Reported commits must be present, and
/// none in part.
#[test]
fn a_killed_process_loses_nothing_that_it_had_told() {
    let folder = folder();
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch) {
        let path = folder.path().join(policy.name());
        PageStore::create(&path, options(policy)).unwrap().close().unwrap();
        // `None` until a thread has reported its first commit. The process may be killed before
        // that.
        let mut told: [Option<u64>; 2] = [None; 2];
        for life in 1..=4 {
            let mut process = child("commits_until_killed", &path).stdout(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
            let mut note = |line: String| {
                let mut words = line.split(' ').skip_while(|word| *word != "committed").skip(1);
                let Some(thread) = words.next() else { return false };
                told[thread.parse::<usize>().unwrap()] = Some(words.next().unwrap().parse().unwrap());
                true
            };
            let enough = 20 * life;
            assert_eq!(lines.by_ref().map(&mut note).filter(|is_one| *is_one).take(enough).count(), enough);
            process.kill().unwrap();
            // The last line may be truncated, and then doesn't count.
            lines.filter(|line| line.ends_with('.')).for_each(|line| _ = note(line));
            process.wait().unwrap();
            let store = PageStore::open(&path).unwrap();
            for thread in 0..2 {
                let versions = [2 * thread, 2 * thread + 1].map(|page| version_of(&store, page));
                assert_eq!(versions[0], versions[1], "{policy}, life {life}");
                let told = told[thread as usize];
                assert!(versions[0] >= told, "{policy}, life {life}: {versions:?}, and {told:?} was told");
            }
            store.close().unwrap();
        }
    }
}

#[test]
#[ignore = "commits until it is killed; other tests run it in a process of its own"]
fn commits_until_killed() {
    let store = PageStore::open(path_of_child()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let mut store = store.clone();
            scope.spawn(move || {
                let first = version_of(&store, 2 * thread).unwrap_or(0) + 1;
                for version in first.. {
                    for page in [2 * thread, 2 * thread + 1] {
                        store.put(page, &contents(page, version)).unwrap();
                    }
                    store.commit().unwrap();
                    println!("committed {thread} {version} .");
                }
            });
        }
    });
}

/// Needs permission to mount a file system smaller than the store.
#[test]
fn a_full_disk_is_named_and_nothing_is_left_there() {
    let folder = folder();
    let test = child("too_large_for_its_disk", folder.path());
    let arguments: Vec<_> = test.get_args().map(|word| word.to_str().unwrap()).collect();
    let program = test.get_program().to_str().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=6M none {} || exit 99; exec {program} {}",
        folder.path().display(),
        arguments.join(" ")
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--mount", "sh", "-c", &script]).env("NANDLE_STORE", folder.path());
    match unshare.output() {
        Ok(ran) if ran.status.success() => {
            assert!(String::from_utf8_lossy(&ran.stdout).contains("1 passed"), "{ran:?}");
        }
        Ok(ran) if ran.status.code() == Some(101) => panic!("{}", String::from_utf8_lossy(&ran.stdout)),
        refused => eprintln!("skipped: no file system can be mounted here: {refused:?}"),
    }
}

#[test]
#[ignore = "wants a file system of a few megabytes; another test runs it on one"]
fn too_large_for_its_disk() {
    let path = path_of_child().join("pages");
    let large = PageOptions::new(10_000).with_buffer_bytes(1 << 20);
    let error = PageStore::create(&path, large).unwrap_err();
    assert!(matches!(error, PageError::File { kind: ErrorKind::StorageFull, .. }), "{error}");
    assert!(error.to_string().contains("fewer pages") && !path.exists(), "{error}");
    let small = PageStore::create(&path, PageOptions::new(100).with_buffer_bytes(1 << 20)).unwrap();
    small.close().unwrap();
}
