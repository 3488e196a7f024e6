//! Stores are created where nothing exists, and other files stay unchanged.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nandle_pages::{PageError, PageOptions, PageStore, PolicyKind};

fn options(policy: PolicyKind) -> PageOptions {
    PageOptions::new(64).with_policy(policy).with_buffer_bytes(256 << 10)
}

fn use_it(mut store: PageStore, expected: u8, next: u8) {
    assert_eq!(store.read(3).unwrap()[0], expected);
    store.put(3, &[next; 4096]).unwrap();
    store.commit().unwrap();
    store.close().unwrap();
}

#[test]
fn a_store_is_made_once_and_opened_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        let path = folder.path().join(policy.name());
        for round in 0..3 {
            use_it(PageStore::open_or_create(&path, options(policy)).unwrap(), round, round + 1);
        }
        let refused = PageStore::create(&path, options(policy)).unwrap_err();
        assert!(refused.to_string().contains("it holds a page store;"), "{refused}");
        use_it(PageStore::open(&path).unwrap(), 3, 4);
    }
}

/// Copies a store's file without its labels, which creation writes last.
fn half_made(policy: PolicyKind, path: &Path) {
    PageStore::create(path, options(policy)).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    wipe_labels(&file);
}

fn wipe_labels(file: &std::fs::File) {
    for place in (0..8).map(|slot| slot * (64 << 10)) {
        file.write_all_at(&[0; 4096], place).unwrap();
    }
}

#[test]
fn a_store_that_was_not_made_to_its_end_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        let path = folder.path().join(policy.name());
        half_made(policy, &path);
        assert!(matches!(PageStore::open(&path), Err(PageError::NotAStoreFile { .. })), "{policy}");
        let before = std::fs::read(&path).unwrap();
        let refused = PageStore::create(&path, options(policy)).unwrap_err();
        assert!(refused.to_string().contains("open_or_create"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        use_it(PageStore::open_or_create(&path, options(policy)).unwrap(), 0, 1);
        use_it(PageStore::open_or_create(&path, options(policy)).unwrap(), 1, 2);
    }
}

#[test]
fn an_empty_file_becomes_a_store_and_any_other_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty");
    std::fs::write(&path, []).unwrap();
    use_it(PageStore::open_or_create(&path, options(PolicyKind::StableRing)).unwrap(), 0, 1);
    let path = folder.path().join("letters");
    for (length, at) in [(1, 0), (5000, 4999), (3 << 20, (3 << 20) - 5000), (100_000, 9000)] {
        let mut contents = vec![0; length];
        contents[at] = b'x';
        std::fs::write(&path, &contents).unwrap();
        for refused in [
            PageStore::open_or_create(&path, options(PolicyKind::StableRing)),
            PageStore::create(&path, options(PolicyKind::StableRing)),
        ] {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, PageError::File { kind: ErrorKind::AlreadyExists, .. }), "{refused}");
            assert!(refused.to_string().contains("it holds something else"), "{refused}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), contents);
    }
}

/// A store with pages that lost all labels doesn't count as incomplete.
#[test]
fn a_store_that_lost_its_labels_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        let path = folder.path().join(policy.name());
        use_it(PageStore::create(&path, options(policy)).unwrap(), 0, 7);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        wipe_labels(&file);
        let before = std::fs::read(&path).unwrap();
        assert!(PageStore::open_or_create(&path, options(policy)).is_err(), "{policy}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{policy}");
    }
}

#[test]
fn of_several_that_come_at_once_one_makes_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages");
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            let path = &path;
            scope.spawn(move || {
                loop {
                    match PageStore::open_or_create(path, options(PolicyKind::StableRing)) {
                        Ok(mut store) => {
                            store.put(thread, &[1; 4096]).unwrap();
                            store.commit().unwrap();
                            return store.close().unwrap();
                        }
                        Err(PageError::Locked) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let store = PageStore::open(&path).unwrap();
    assert!((1..=4).all(|page| store.read(page).unwrap()[0] == 1), "each found what the others had made");
}
