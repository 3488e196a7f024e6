//! Replacement of snapshots that have readers, and the snapshots that a commit reports.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod support;

use std::io::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nandle_columns::{Commit, Manifest, Table, TableOptions};
use support::hooked_files::HookedFiles;
use support::{flights, schema};

fn load(table: &Table, rows: usize) -> Commit {
    let mut writer = table.load().unwrap();
    writer.write(&flights(1, rows, 1)).unwrap();
    writer.commit().unwrap()
}

fn table(directory: &Path) -> Table {
    let table = Table::create(directory, &TableOptions::new(schema(), 1)).unwrap();
    load(&table, 10);
    table
}

#[test]
fn a_reader_follows_a_switch() {
    let directory = tempfile::tempdir().unwrap();
    let other = table(directory.path());
    let switches = Arc::new(AtomicU32::new(0));
    let hook = {
        let switches = Arc::clone(&switches);
        move |operation: &str, path: &str| {
            if operation == "open"
                && path.starts_with("manifest-")
                && switches.fetch_add(1, Ordering::Relaxed) < 3
            {
                load(&other, 10);
            }
            Ok(())
        }
    };
    let reading = Table::open_in(Arc::new(HookedFiles::new(directory.path(), hook))).unwrap();
    assert_eq!(reading.manifest().unwrap().rows(), 40);
    assert!(switches.load(Ordering::Relaxed) > 3);
}

#[test]
fn a_manifest_that_is_missing_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path());
    std::fs::remove_file(directory.path().join("manifest-2.json")).unwrap();
    assert!(table.manifest().unwrap_err().to_string().contains("manifest-2.json"));
}

#[test]
fn a_commit_says_what_it_made_of_what() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path());
    let numbers = |commit: &Commit| [&commit.replaced, &commit.made].map(|manifest| manifest.snapshot);
    let commit = table.project(&["origin"], 1 << 20).unwrap();
    assert_eq!((numbers(&commit), commit.made.projections[0].rows()), ([2, 3], 10));
    let commit = load(&table, 5);
    let projections = [&commit.replaced, &commit.made].map(|manifest| manifest.projections.len());
    assert_eq!((numbers(&commit), projections, commit.made.rows()), ([3, 4], [1, 0], 15));
    let commit = table.compact(1 << 20).unwrap();
    assert_eq!((numbers(&commit), commit.made.runs.len()), ([4, 5], 1));
    assert_eq!(commit.made, table.manifest().unwrap());
    let nothing = table.load().unwrap().commit().unwrap();
    assert_eq!(numbers(&nothing), [5, 5]);
    assert!(nothing.left.is_none());
}

/// Durable rows count as a success even if obsolete files can't be removed.
#[test]
fn what_can_not_be_removed_is_told_and_stays_for_the_next() {
    let directory = tempfile::tempdir().unwrap();
    table(directory.path());
    let old = Manifest::name(2);
    let hook = move |operation: &str, path: &str| {
        if operation == "remove" && path == old { Err(Error::other("refused")) } else { Ok(()) }
    };
    let hooked = Table::open_in(Arc::new(HookedFiles::new(directory.path(), hook))).unwrap();
    let commit = load(&hooked, 5);
    assert!(commit.left.unwrap().to_string().contains("manifest-2.json"));
    assert_eq!(Table::open(directory.path()).unwrap().snapshot().unwrap().rows(), 15);
}
