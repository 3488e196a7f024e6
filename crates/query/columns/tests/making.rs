//! A directory can become a table if nothing is lost by it; remains of a failed creation are no
//! obstacle.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::io::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_columns::{
    AdoptOptions, Adoption, ColumnsError, RealFiles, ScanSpec, Stopped, Table, TableOptions, TableProfile,
    Watch, WatchedFiles,
};
use support::footers::write;
use support::hooked_files::HookedFiles;
use support::model_files::ModelFiles;
use support::{batches, flights, schema};

fn options() -> TableOptions {
    let profile = Some(TableProfile { device: "none".to_owned(), json: b"{}".to_vec() });
    TableOptions { profile, ..TableOptions::new(schema(), 3) }
}

fn put(directory: &Path, names: &[&str]) {
    for name in names {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "mine").unwrap();
    }
}

#[test]
fn what_is_not_a_tables_stays() {
    for names in [
        &["profile.json"][..],
        &["data/a.csv.partial"],
        &["a.csv.partial"],
        &["manifest-1.json"],
        &["LOCK", "a.csv.partial"],
    ] {
        let directory = tempfile::tempdir().unwrap();
        put(directory.path(), names);
        let foreign = names.last().unwrap();
        let asked = Table::can_be_made(directory.path()).map(drop);
        for refused in [asked, Table::create(directory.path(), &options()).map(drop)] {
            let error = refused.unwrap_err();
            assert!(matches!(&error, ColumnsError::NotEmpty { file } if file == foreign), "{error}");
        }
        let content = std::fs::read(directory.path().join(foreign)).unwrap();
        assert_eq!(content, b"mine", "{names:?}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), names.len());
    }
}

#[test]
fn folders_without_anything_in_them_are_no_obstacle() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("data")).unwrap();
    assert!(Table::can_be_made(directory.path()).unwrap());
    Table::create(directory.path(), &options()).unwrap();
}

#[test]
fn what_is_left_of_a_making_is_written_over() {
    let directory = tempfile::tempdir().unwrap();
    put(
        directory.path(),
        &["LOCK", "profile.json", "manifest-1.json.partial", "CURRENT.partial", "data/1-0.sums.partial"],
    );
    assert!(Table::can_be_made(directory.path()).unwrap());
    let table = Table::create(directory.path(), &options()).unwrap();
    assert!(table.verify().unwrap().is_empty());
    assert_eq!(std::fs::read_dir(directory.path().join("data")).unwrap().count(), 0);
}

#[test]
fn a_writer_removes_what_is_unfinished_of_tables_alone() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options()).unwrap();
    put(directory.path(), &["a.csv.partial", "manifest-7.json.partial", "CURRENT.partial"]);
    drop(table.load().unwrap());
    let is_there = |name: &str| directory.path().join(name).exists();
    assert!(is_there("a.csv.partial"));
    assert!(!is_there("manifest-7.json.partial") && !is_there("CURRENT.partial"));
}

/// After any power cut during creation, a table exists or can be created.
#[test]
fn a_making_is_cut_off() {
    let create = |files: &ModelFiles| Table::create_in(Arc::new(files.clone()), &options());
    let whole = ModelFiles::default();
    create(&whole).unwrap();
    for cut in 0..=whole.operations() {
        let files = ModelFiles::default();
        files.cut_before(cut);
        assert_eq!(create(&files).is_ok(), cut == whole.operations());
        for seed in 0..20 {
            let image = files.after_power_cut(cut << 8 | seed);
            match create(&image) {
                Ok(_) | Err(ColumnsError::TableExists) => {}
                Err(error) => panic!("cut before operation {cut}, seed {seed}: {error}"),
            }
            let table = Table::open_in(Arc::new(image)).unwrap();
            assert!(table.verify().unwrap().is_empty());
        }
    }
}

fn two_files(directory: &Path) -> [PathBuf; 2] {
    let paths = ["a.parquet", "b.parquet"].map(|name| directory.join(name));
    paths.iter().zip(1..).for_each(|(path, seed)| write(path, &flights(seed, 100, 1)));
    paths
}

#[test]
fn an_adoption_that_failed_can_be_repeated() {
    let refusals = [("data/1-1.parquet.partial", ""), ("", "data/1-1.parquet"), ("", "CURRENT")];
    for (adopt, rename) in refusals {
        let directory = tempfile::tempdir().unwrap();
        let paths = two_files(directory.path());
        let place = directory.path().join("t");
        let refuse = move |operation: &str, path: &str| {
            let refused = [("adopt", adopt), ("rename", rename)].contains(&(operation, path));
            if refused { Err(Error::other("refused")) } else { Ok(()) }
        };
        let files = HookedFiles::new(&place, refuse);
        Table::adopt_in(Arc::new(files), &paths, &AdoptOptions::new(1, Adoption::Link)).unwrap_err();
        assert_eq!(std::fs::read_dir(place.join("data")).unwrap().count(), 0, "{adopt}{rename}");
        let table = Table::adopt(&place, &paths, &AdoptOptions::new(1, Adoption::Link)).unwrap();
        assert_eq!(table.snapshot().unwrap().rows(), 200);
        assert!(table.verify().unwrap().is_empty());
    }
}

/// Stops the work after a number of bytes.
#[derive(Debug)]
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn moves(&self, bytes: u64) -> std::io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(bytes), Ordering::Relaxed);
        if left == 0 { Err(Stopped::error()) } else { Ok(()) }
    }
}

#[test]
fn an_adoption_that_was_stopped_leaves_no_table() {
    for moved_bytes in [1, 6000, 8000] {
        let directory = tempfile::tempdir().unwrap();
        let (paths, place) = (two_files(directory.path()), directory.path().join("t"));
        let watch = Arc::new(StopAfter(AtomicU64::new(moved_bytes)));
        let files = WatchedFiles::new(Arc::new(RealFiles::new(&place)), watch);
        let options = AdoptOptions { profile: options().profile, ..AdoptOptions::new(1, Adoption::Link) };
        let error = Table::adopt_in(Arc::new(files), &paths, &options).unwrap_err();
        assert!(matches!(error, ColumnsError::Stopped), "{error}");
        let names = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
        for folder in names {
            assert!(folder.is_dir(), "{}", folder.display());
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{}", folder.display());
        }
        assert!(paths.iter().all(|path| path.exists()));
    }
}

#[test]
fn an_adoption_that_was_killed_can_be_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let paths = two_files(directory.path());
    let place = directory.path().join("t");
    put(&place, &["LOCK", "data/1-0.parquet.partial", "data/1-0.sums.partial", "projections/sort-0.partial"]);
    let table = Table::adopt(&place, &paths, &AdoptOptions::new(1, Adoption::Link)).unwrap();
    assert_eq!(table.snapshot().unwrap().rows(), 200);
    assert_eq!(std::fs::read_dir(place.join("projections")).unwrap().count(), 0);
}

#[test]
fn a_table_without_rows_can_be_taken_away_and_one_with_rows_not() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("table");
    let table = || Table::create(&place, &TableOptions::new(schema(), 1)).unwrap();
    assert!(table().discard_empty().unwrap());
    assert!(Table::can_be_made(&place).unwrap());
    let names = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| name == "data" || name == "projections"));
    let table = table();
    let mut writer = table.load().unwrap();
    writer.write(&flights(1, 10, 1)).unwrap();
    writer.commit().unwrap();
    assert!(!table.clone().discard_empty().unwrap());
    assert_eq!(batches(&table.snapshot().unwrap(), &ScanSpec::of(["origin"])).len(), 10);
}

/// Stops the work before the first byte.
#[derive(Debug)]
struct StopAtOnce;

impl Watch for StopAtOnce {
    fn moves(&self, _: u64) -> std::io::Result<()> {
        Err(Stopped::error())
    }
}

#[test]
fn who_is_stopped_at_a_tables_root_is_not_told_that_it_is_damaged() {
    let directory = tempfile::tempdir().unwrap();
    Table::create(directory.path(), &options()).unwrap();
    let files = WatchedFiles::new(Arc::new(RealFiles::new(directory.path())), Arc::new(StopAtOnce));
    let table = Table::open_in(Arc::new(files));
    let error = table.and_then(|table| table.manifest()).unwrap_err();
    assert!(matches!(error, ColumnsError::Stopped), "{error}");
}
