//! Sorted copies contain the table's rows, with any amount of memory, and are dropped with the rows
//! that they copy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod support;

use std::sync::Arc;

use nandle_columns::{Clustering, Files, Layout, Predicate, ScanSpec, Table, TableOptions};
use support::model_files::ModelFiles;
use support::{batches, flights, schema};

const COLUMNS: [&str; 4] = ["carrier", "delay", "note", "late"];
const MEMORY_BYTES: u64 = 1 << 20;

fn table(clustering: Clustering, rows: usize) -> (Table, ModelFiles) {
    let files = ModelFiles::default();
    let layout = Layout { file_rows: 20_000, ..Layout::default() };
    let options = TableOptions { layout, clustering, ..TableOptions::new(schema(), 3) };
    let table = Table::create_in(Arc::new(files.clone()), &options).unwrap();
    for month in [1_u8, 2] {
        let mut writer = table.load().unwrap();
        writer.write(&flights(u64::from(month), rows, month.cast_signed())).unwrap();
        writer.commit().unwrap();
    }
    (table, files)
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

#[test]
fn rows_are_the_tables_in_the_order_of_its_columns() {
    // Several runs on disk, so that they are merged.
    let (table, files) = table(Clustering::None, 40_000);
    table.project(&COLUMNS, MEMORY_BYTES).unwrap();
    assert!(files.list("projections").unwrap().iter().all(|name| !name.ends_with(".partial")));
    let snapshot = table.snapshot().unwrap();
    let spec = ScanSpec::of(COLUMNS).with(Predicate::between("delay", Some("0"), Some("100")));
    let covering = snapshot.covering(&spec);
    assert_eq!(covering.len(), 1);
    let projected = snapshot.projection(covering[0]).unwrap();
    assert_eq!(projected.rows(), 80_000);
    for spec in [spec, ScanSpec::of(COLUMNS)] {
        let rows = batches(&projected, &spec);
        assert!(sorted(rows) == sorted(batches(&snapshot, &spec)));
    }
    let carriers = batches(&projected, &ScanSpec::of(["carrier"]));
    let none = carriers.iter().take_while(|carrier| *carrier == "-").count();
    assert!(none > 0 && carriers[none..].is_sorted(), "nulls come first");
    assert!(snapshot.covering(&ScanSpec::of(["carrier", "id"])).is_empty());
    assert!(table.verify().unwrap().is_empty());
}

#[test]
fn a_compaction_keeps_it_and_other_rows_end_it() {
    let (table, files) = table(Clustering::None, 500);
    let count = || table.manifest().unwrap().projections.len();
    table.project(&["origin"], MEMORY_BYTES).unwrap();
    table.project(&["delay", "origin"], MEMORY_BYTES).unwrap();
    table.project(&["origin"], MEMORY_BYTES).unwrap();
    assert_eq!(count(), 2, "one takes the place of another of the same columns");
    table.compact(MEMORY_BYTES).unwrap();
    assert_eq!(count(), 2);
    let mut writer = table.replace(&["month"]).unwrap();
    writer.write(&flights(7, 100, 1)).unwrap();
    writer.commit().unwrap();
    assert_eq!(count(), 0);
    assert!(files.list("projections").unwrap().is_empty());
}

#[test]
fn columns_that_make_no_projection_are_refused() {
    let (table, _) = table(Clustering::None, 10);
    for (columns, part) in [(&[][..], "no column"), (&["id", "id"], "twice"), (&["idd"], "`idd`")] {
        let error = table.project(columns, MEMORY_BYTES).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(table.manifest().unwrap().snapshot, 3);
}

#[test]
fn a_damaged_projection_is_found_and_the_table_is_read() {
    let (table, files) = table(Clustering::None, 500);
    table.project(&["origin", "delay"], MEMORY_BYTES).unwrap();
    let path = table.manifest().unwrap().projections[0].runs[0].files[0].path.clone();
    let file = files.open(&path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.length_bytes()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes[10] ^= 1;
    files.create(&path).unwrap().write_all(&bytes).unwrap();
    let found = table.verify().unwrap();
    assert!(!found.is_empty() && found[0].to_string().contains(&path), "{found:?}");
    let snapshot = table.snapshot().unwrap();
    assert_eq!(batches(&snapshot, &ScanSpec::of(["delay"])).len(), 1000);
}

#[test]
fn a_sorted_table_is_sorted_as_a_whole_when_its_runs_are_merged() {
    let by = vec!["origin".to_owned(), "delay".to_owned()];
    let (table, _) = table(Clustering::Sort(by), 30_000);
    let rows = |spec: &ScanSpec| batches(&table.snapshot().unwrap(), spec);
    let all = ScanSpec::of(schema().fields().iter().map(|field| field.name().clone()));
    let before = sorted(rows(&all));
    assert!(!rows(&ScanSpec::of(["origin"])).is_sorted());
    table.compact(MEMORY_BYTES).unwrap();
    assert!(before == sorted(rows(&all)));
    assert!(rows(&ScanSpec::of(["origin"])).is_sorted());
}
