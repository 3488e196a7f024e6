//! Predicates on nulls, and pruning of row groups and pages by null counts.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, StringArray};
use nandle_columns::{Layout, Predicate, ScanSpec, Snapshot, Table, TableOptions};
use parquet::file::statistics::Statistics;
use support::footers::{change, with_chunks, with_groups, write};
use support::{batches, codes};

const GROUP_ROWS: usize = 4000;

/// Three row groups: only nulls, mixed, and only values. In the second the first half of the pages
/// is null.
fn rows() -> RecordBatch {
    let id = |row: usize| i32::try_from(row).unwrap();
    let is_null = |row: usize| row < GROUP_ROWS + GROUP_ROWS / 2 || row == 2 * GROUP_ROWS - 1;
    let all = 0..3 * GROUP_ROWS;
    let number: Int32Array = all.clone().map(|row| Some(id(row)).filter(|_| !is_null(row))).collect();
    let name: StringArray =
        all.clone().map(|row| ["a", "b", "c"].get(row % 3).filter(|_| !is_null(row))).collect();
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("id", Arc::new(all.map(|row| Some(id(row))).collect::<Int32Array>()), false),
        ("number", Arc::new(number), true),
        ("name", Arc::new(name), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn table(directory: &Path) -> Snapshot {
    let rows = rows();
    let layout =
        Layout { page_rows: 500, row_group_rows: u64::try_from(GROUP_ROWS).unwrap(), ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(rows.schema(), 7) };
    let table = Table::create(directory, &options).unwrap();
    let mut writer = table.load().unwrap();
    writer.write(&rows).unwrap();
    writer.commit().unwrap();
    table.snapshot().unwrap()
}

/// Returns the ids of the rows, by both decoders.
fn found(snapshot: &Snapshot, predicates: &[Predicate]) -> Vec<String> {
    let spec = predicates.iter().cloned().fold(ScanSpec::of(["id"]), ScanSpec::with);
    let found = batches(snapshot, &spec);
    assert!(found == codes(snapshot, &spec), "{predicates:?}: batches and codes differ");
    found
}

fn candidates(snapshot: &Snapshot, predicate: Predicate) -> u64 {
    snapshot.scan(&ScanSpec::of(["id"]).with(predicate)).unwrap().candidate_rows()
}

fn with(is_null: bool) -> Vec<String> {
    let rows = rows();
    let number = rows.column_by_name("number").unwrap();
    (0..rows.num_rows()).filter(|row| number.is_null(*row) == is_null).map(|row| row.to_string()).collect()
}

#[test]
fn rows_are_found_by_whether_they_have_a_value() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(&directory.path().join("table"));
    let path = directory.path().join("foreign.parquet");
    write(&path, &rows());
    let foreign = Snapshot::of_files(&[path]).unwrap();
    for snapshot in [&table, &foreign] {
        for column in ["number", "name"] {
            assert!(found(snapshot, &[Predicate::is_null(column)]) == with(true), "{column}");
            assert!(found(snapshot, &[Predicate::is_not_null(column)]) == with(false), "{column}");
        }
        let of_both = [Predicate::is_null("name"), Predicate::between("id", None, Some("2"))];
        assert_eq!(found(snapshot, &of_both), ["0", "1", "2"]);
        assert_eq!(found(snapshot, &[Predicate::is_null("number"), Predicate::is_not_null("name")]), [""; 0]);
        assert_eq!(found(snapshot, &[Predicate::is_null("id")]), [""; 0]);
    }
}

#[test]
fn numbers_of_nulls_save_reading() {
    let directory = tempfile::tempdir().unwrap();
    let snapshot = table(directory.path());
    for column in ["number", "name"] {
        let of = |predicate| candidates(&snapshot, predicate);
        // Pruning by row groups alone would leave 8000.
        assert!((6001..7500).contains(&of(Predicate::is_null(column))), "{column}");
        assert!((5999..7500).contains(&of(Predicate::is_not_null(column))), "{column}");
    }
    assert!((5999..7500).contains(&candidates(&snapshot, Predicate::between("name", None, Some("z")))));
    assert_eq!(candidates(&snapshot, Predicate::is_null("id")), 0);
    assert_eq!(candidates(&snapshot, Predicate::is_not_null("id")), 12_000);
}

#[test]
fn a_number_that_is_not_stated_rules_nothing_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.parquet");
    let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    write(&path, &RecordBatch::try_from_iter([("id", column)]).unwrap());
    let old = Statistics::int32(Some(1), Some(3), None, None, false);
    change(&path, |metadata| {
        with_groups(&metadata, |group| with_chunks(group, |chunk| chunk.set_statistics(old.clone())))
    });
    let snapshot = Snapshot::of_files(&[path]).unwrap();
    assert_eq!(found(&snapshot, &[Predicate::is_null("id")]), ["-"]);
    assert_eq!(found(&snapshot, &[Predicate::is_not_null("id")]), ["1", "3"]);
}
