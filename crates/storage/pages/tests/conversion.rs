//! Conversion of a store in a file is atomic, and touches nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{fill, open_options, version_in};
use nandle_pages::{OpenOptions, PageError, PageOptions, PageStore};
use tempfile::TempDir;

const VERSION: u64 = 8;
/// Policy of a fixture with page 20 at home.
const POLICY: &str = "stable-ring";

/// A folder with a store of version 1.
fn old_store() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("pages.db");
    fs::write(&path, image()).unwrap();
    (folder, path)
}

fn image() -> Vec<u8> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{POLICY}.v1.zst"));
    zstd::decode_all(File::open(fixture).unwrap()).unwrap()
}

/// Writes the store as a sparse file.
fn write_with_holes(path: &Path) {
    let image = image();
    let file = File::create(path).unwrap();
    file.set_len(image.len() as u64).unwrap();
    for (index, block) in
        image.chunks(4096).enumerate().filter(|(_, block)| block.iter().any(|byte| *byte != 0))
    {
        file.write_all_at(block, index as u64 * 4096).unwrap();
    }
    file.sync_all().unwrap();
}

fn version_of(path: &Path) -> u32 {
    let mut version = [0; 4];
    File::open(path).unwrap().read_exact_at(&mut version, VERSION).unwrap();
    u32::from_le_bytes(version)
}

fn copy_of(path: &Path) -> PathBuf {
    path.with_file_name("pages.db.converting")
}

fn holds_its_pages(path: &Path) {
    let store = PageStore::open(path).unwrap();
    for page in (1..=30).filter(|page| *page != 3) {
        assert_eq!(version_in(&store.read(page).unwrap(), page), Some(page));
    }
    store.close().unwrap();
    assert_ne!(version_of(path), 1);
    assert!(!copy_of(path).exists(), "the copy's name is gone");
}

#[test]
fn permissions_and_symbolic_links_are_kept() {
    let (folder, path) = old_store();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link");
    symlink("pages.db", &link).unwrap();
    PageStore::open(&link).unwrap().close().unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("pages.db"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    holds_its_pages(&path);
}

#[test]
fn a_file_with_holes_stays_one_and_a_reserved_one_is_reserved() {
    let (_folder, path) = old_store();
    write_with_holes(&path);
    let is_sparse = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        metadata.blocks() * 512 < metadata.len()
    };
    let was_sparse = is_sparse(&path);
    holds_its_pages(&path);
    assert_eq!(is_sparse(&path), was_sparse);

    let (_folder, path) = old_store();
    File::open(&path).unwrap().sync_all().unwrap();
    holds_its_pages(&path);
    assert!(!is_sparse(&path));
}

/// Needs permission to mount a small file system.
#[test]
fn as_much_space_as_is_said_suffices() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=3M none {} || exit 99; exec {} --exact converts_in_little_space --include-ignored",
        folder.path().display(),
        program.display()
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
fn converts_in_little_space() {
    let folder = PathBuf::from(std::env::var_os("NANDLE_STORE").unwrap());
    let (path, filling) = (folder.join("pages.db"), folder.join("filling"));
    for is_sparse in [true, false] {
        fs::write(&path, image()).unwrap();
        if is_sparse {
            write_with_holes(&path);
        }
        let mut needed = 0;
        for left in [100_u64 << 10, 400 << 10, 700 << 10] {
            fill_up(&filling, left);
            let refused = PageStore::open(&path).unwrap_err();
            let PageError::ConversionSpace { needed_bytes, free_bytes, .. } = refused else {
                panic!("{refused}")
            };
            assert_eq!(free_bytes, Some(left), "{refused}");
            assert!(needed_bytes > left && version_of(&path) == 1, "{refused}");
            needed = needed_bytes;
        }
        fill_up(&filling, needed);
        holds_its_pages(&path);
        [&path, &filling].iter().for_each(|path| fs::remove_file(path).unwrap());
    }
}

/// Fills the file system up to `left_bytes`.
fn fill_up(filling: &Path, left_bytes: u64) {
    fs::write(filling, []).unwrap();
    let facts = rustix::fs::statvfs(filling).unwrap();
    let free_bytes = facts.f_bavail * facts.f_frsize;
    fs::write(filling, vec![1; usize::try_from(free_bytes - left_bytes).unwrap()]).unwrap();
}

#[test]
fn what_a_conversion_that_was_cut_off_left_is_made_anew() {
    for left in [Vec::new(), vec![0; 1 << 16], image()] {
        let (_folder, path) = old_store();
        fs::write(copy_of(&path), left).unwrap();
        holds_its_pages(&path);
    }
}

#[test]
fn files_of_others_are_left_alone() {
    for (left, told) in [(b"a letter".repeat(900), "something else"), (image(), "another store")] {
        let (_folder, path) = old_store();
        if told == "another store" {
            fs::remove_file(&path).unwrap();
            let other = PageStore::create(&path, PageOptions::new(10)).unwrap();
            other.close().unwrap();
            fs::rename(&path, copy_of(&path)).unwrap();
            fs::write(&path, image()).unwrap();
        } else {
            fs::write(copy_of(&path), &left).unwrap();
        }
        let before = fs::read(copy_of(&path)).unwrap();
        let error = PageStore::open(&path).unwrap_err();
        assert!(matches!(error, PageError::File { kind: ErrorKind::AlreadyExists, .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!((fs::read(copy_of(&path)).unwrap(), fs::read(&path).unwrap()), (before, image()));
    }
    let (folder, path) = old_store();
    let target = folder.path().join("target");
    fs::write(&target, []).unwrap();
    symlink(&target, copy_of(&path)).unwrap();
    assert!(PageStore::open(&path).unwrap_err().to_string().contains("it is no file"));
    assert!(fs::read(&target).unwrap().is_empty());
}

/// The process was killed after the copy took the store's name.
#[test]
fn a_conversion_is_ended_by_the_next_opening() {
    let (_folder, path) = old_store();
    holds_its_pages(&path);
    fs::write(copy_of(&path), image()).unwrap();
    let read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    PageStore::open_with(&path, read_only).unwrap().close().unwrap();
    assert!(copy_of(&path).exists(), "who only reads removes nothing");
    holds_its_pages(&path);
}

#[test]
fn a_damaged_page_refuses_the_conversion_and_changes_nothing() {
    let (_folder, path) = old_store();
    let mut damaged = image();
    // Each page's newest version is staged once, so each staged block is needed.
    let page_40 = damaged.chunks(4096).rposition(|block| version_in(block, 40).is_some()).unwrap();
    for place in damaged.chunks_mut(4096).take(page_40 + 1).filter(|block| version_in(block, 40).is_some()) {
        place[100] ^= 1;
    }
    fs::write(&path, &damaged).unwrap();
    let error = PageStore::open(&path).unwrap_err();
    assert!(matches!(error, PageError::Conversion { version: 1, .. }), "{error}");
    assert!(error.to_string().contains("nandle pages salvage"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert!(!copy_of(&path).exists());
}

#[test]
fn a_store_that_is_being_read_is_not_converted() {
    let (_folder, path) = old_store();
    let read_only = OpenOptions { read_only: true, ..open_options() };
    let reader = PageStore::open_with(&path, read_only).unwrap();
    assert_eq!(PageStore::open(&path).unwrap_err(), PageError::Locked);
    reader.close().unwrap();
    assert_eq!(fs::read(&path).unwrap(), image());
    holds_its_pages(&path);
}

/// A thread that opened the old file and waited for its lock must open the new file.
#[test]
fn threads_that_open_it_at_the_same_time_work_on_one_store() {
    let (_folder, path) = old_store();
    std::thread::scope(|scope| {
        for thread in 50..56 {
            let path = &path;
            scope.spawn(move || {
                let mut store = loop {
                    match PageStore::open_with(path, open_options()) {
                        Ok(store) => break store,
                        Err(PageError::Locked) => {}
                        Err(error) => panic!("{error}"),
                    }
                };
                let mut contents = vec![0; 4096];
                fill(&mut contents, thread, thread);
                store.put(thread, &contents).unwrap();
                store.commit().unwrap();
                store.close().unwrap();
            });
        }
    });
    holds_its_pages(&path);
    let store = PageStore::open(&path).unwrap();
    for thread in 50..56 {
        assert_eq!(version_in(&store.read(thread).unwrap(), thread), Some(thread));
    }
}
