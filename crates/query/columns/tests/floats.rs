//! NaN and the two zeros have one meaning in statistics and values: NaN equals NaN and lies in no
//! range; -0.0 equals 0.0.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Float64Array, Int64Array, RecordBatch};
use nandle_columns::{Layout, Predicate, ScanSpec, Snapshot, Table, TableOptions};
use support::{batches, codes, everything};

fn rows(values: &[f64], from: i64) -> RecordBatch {
    let ids: Int64Array = (from..).take(values.len()).collect();
    RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from(values.to_vec())) as _),
        ("id", Arc::new(ids) as _),
    ])
    .unwrap()
}

/// Row groups of two rows, each with its own statistics.
fn table(directory: &Path, values: &[f64]) -> Table {
    let batch = rows(values, 0);
    let layout = Layout { row_group_rows: 2, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(batch.schema(), 1) };
    let table = Table::create(directory, &options).unwrap();
    let mut writer = table.load().unwrap();
    writer.write(&batch).unwrap();
    writer.commit().unwrap();
    table
}

fn ids(snapshot: &Snapshot, predicate: Predicate) -> Vec<String> {
    let spec = ScanSpec::of(["id"]).with(predicate);
    let found = batches(snapshot, &spec);
    assert_eq!(found, codes(snapshot, &spec));
    found
}

#[test]
fn what_is_found_does_not_depend_on_what_else_a_page_holds() {
    let directory = tempfile::tempdir().unwrap();
    let values = [1.0, f64::NAN, 20.0, -f64::NAN, f64::NAN, f64::NAN, -0.0, -0.0, 0.0, 5.0];
    let table = table(directory.path(), &values);
    let snapshot = table.snapshot().unwrap();
    assert_eq!(ids(&snapshot, Predicate::between("x", Some("10"), None)), ["2"]);
    assert_eq!(ids(&snapshot, Predicate::between("x", None, Some("0.5"))), ["6", "7", "8"]);
    assert_eq!(ids(&snapshot, Predicate::between("x", Some("0"), Some("0"))), ["6", "7", "8"]);
    assert!(ids(&snapshot, Predicate::between("x", None, Some("NaN"))).is_empty());
    assert_eq!(ids(&snapshot, Predicate::between("x", None, None)).len(), values.len());
    assert_eq!(ids(&snapshot, Predicate::is_in("x", ["NaN"])), ["1", "3", "4", "5"]);
    assert_eq!(ids(&snapshot, Predicate::is_in("x", ["-0.0", "5"])), ["6", "7", "8", "9"]);
    assert_eq!(ids(&snapshot, Predicate::is_in("x", ["0"])), ["6", "7", "8"]);
}

#[test]
fn a_sorted_copy_finds_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), &[1.0, f64::NAN, 20.0, -f64::NAN, -0.0, 0.0, 3.0, 4.0]);
    table.project(&["x", "id"], 1 << 20).unwrap();
    let snapshot = table.snapshot().unwrap();
    let projected = snapshot.projection(&snapshot.manifest().unwrap().projections[0]).unwrap();
    let predicates = [
        Predicate::between("x", Some("4"), None),
        Predicate::is_in("x", ["NaN"]),
        Predicate::is_in("x", ["0"]),
    ];
    for predicate in predicates {
        let mut found = ids(&projected, predicate.clone());
        found.sort();
        assert_eq!(found, ids(&snapshot, predicate));
    }
}

#[test]
fn rows_with_such_keys_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), &[1.0, f64::NAN, -0.0, 3.0, 0.0, 2.0]);
    let mut writer = table.replace(&["x"]).unwrap();
    writer.write(&rows(&[-f64::NAN, 0.0], 100)).unwrap();
    writer.commit().unwrap();
    let snapshot = table.snapshot().unwrap();
    let found = batches(&snapshot, &ScanSpec::of(["id"]));
    assert_eq!(found, ["0", "3", "5", "100", "101"]);
    assert_eq!(batches(&snapshot, &everything(&snapshot)).len(), 5);
}
