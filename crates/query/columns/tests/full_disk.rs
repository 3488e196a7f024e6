//! Full disk from any operation on: the error names the file, the table is unchanged, and nothing
//! is left behind.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod support;

use std::io::ErrorKind;
use std::sync::Arc;

use nandle_columns::{ColumnsError, Files, Layout, Table, TableOptions, TableProfile};
use support::model_files::ModelFiles;
use support::{batches, everything, flights, schema};

fn open(files: &ModelFiles) -> Table {
    Table::open_in(Arc::new(files.clone())).unwrap()
}

fn rows(files: &ModelFiles) -> Vec<String> {
    let snapshot = open(files).snapshot().unwrap();
    batches(&snapshot, &everything(&snapshot))
}

fn load(table: &Table) -> Result<(), ColumnsError> {
    let mut writer = table.load()?;
    writer.write(&flights(11, 300, 3))?;
    writer.commit().map(drop)
}

fn replace(table: &Table) -> Result<(), ColumnsError> {
    let mut writer = table.replace(&["month"])?;
    writer.write(&flights(12, 200, 1))?;
    writer.commit().map(drop)
}

fn compact(table: &Table) -> Result<(), ColumnsError> {
    table.compact(1 << 20).map(drop)
}

fn options() -> TableOptions {
    let layout = Layout { file_rows: 250, ..Layout::default() };
    let profile = Some(TableProfile { device: "none".to_owned(), json: b"{}".to_vec() });
    TableOptions { layout, profile, ..TableOptions::new(schema(), 3) }
}

fn table_of_two_runs() -> ModelFiles {
    let files = ModelFiles::default();
    let table = Table::create_in(Arc::new(files.clone()), &options()).unwrap();
    for month in [1_u8, 2] {
        let mut writer = table.load().unwrap();
        writer.write(&flights(u64::from(month), 200, month.cast_signed())).unwrap();
        writer.commit().unwrap();
    }
    files
}

/// Files that no manifest names, and old manifests.
fn leftovers(files: &ModelFiles) -> Vec<String> {
    let manifest = open(files).manifest().unwrap();
    let named: Vec<&str> =
        manifest.files().flat_map(|file| [file.path.as_str(), file.sums.path.as_str()]).collect();
    let data = files.list("data").unwrap().into_iter().map(|name| format!("data/{name}"));
    let mut left: Vec<String> = data.filter(|path| !named.contains(&path.as_str())).collect();
    let present = format!("manifest-{}.json", manifest.snapshot);
    let is_known = |name: &String| ["CURRENT", "LOCK", "profile.json", &present].contains(&name.as_str());
    left.extend(files.list("").unwrap().into_iter().filter(|name| !is_known(name)));
    left
}

#[track_caller]
fn is_of_room(error: &ColumnsError) {
    let ColumnsError::Io { file, source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    let text = error.to_string();
    assert!(!file.is_empty() && text.contains(file) && text.contains("make room"), "{text}");
}

fn full_from_everywhere(change: fn(&Table) -> Result<(), ColumnsError>) {
    let start = table_of_two_runs();
    let old = rows(&start);
    let whole = start.fork();
    whole.full_from(None);
    change(&open(&whole)).unwrap();
    let new = rows(&whole);
    let mut refused = 0;
    for number in 0..whole.operations() {
        let files = start.fork();
        files.full_from(Some(number));
        let done = change(&open(&files));
        assert!(open(&files).verify().unwrap().is_empty());
        assert_eq!(leftovers(&files), Vec::<String>::new(), "full from operation {number} on");
        let Err(error) = done else {
            assert!(rows(&files) == new);
            continue;
        };
        refused += 1;
        is_of_room(&error);
        assert!(rows(&files) == old, "full from operation {number} on");
        files.full_from(None);
        change(&open(&files)).unwrap();
        assert!(rows(&files) == new, "with room it goes on");
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_load_has_no_room() {
    full_from_everywhere(load);
}

#[test]
fn a_replacement_has_no_room() {
    full_from_everywhere(replace);
}

#[test]
fn a_compaction_has_no_room() {
    full_from_everywhere(compact);
}

/// Remains of a failed creation don't prevent the next one.
#[test]
fn a_table_is_made_where_there_is_room_again() {
    let create = |files: &ModelFiles| Table::create_in(Arc::new(files.clone()), &options()).map(drop);
    let whole = ModelFiles::default();
    create(&whole).unwrap();
    for number in 0..whole.operations() {
        let files = ModelFiles::default();
        files.full_from(Some(number));
        match create(&files) {
            Ok(()) => {}
            Err(error) => is_of_room(&error),
        }
        files.full_from(None);
        let Err(ColumnsError::TableExists) = create(&files) else {
            load(&open(&files)).unwrap();
            assert_eq!((rows(&files).len(), leftovers(&files).len()), (300, 0));
            continue;
        };
    }
}

/// Rows without a root aren't treated as remains.
#[test]
fn rows_without_a_root_are_kept() {
    let files = table_of_two_runs();
    let before = files.list("data").unwrap();
    files.remove("CURRENT").unwrap();
    let error = Table::create_in(Arc::new(files.clone()), &options()).unwrap_err();
    assert!(matches!(&error, ColumnsError::NotATable { file, .. } if file == "CURRENT"), "{error}");
    assert_eq!(files.list("data").unwrap(), before);
    let manifests = files.list("").unwrap().into_iter().filter(|name| name.starts_with("manifest-")).count();
    assert_eq!(manifests, 1, "the root can be brought back");
}
