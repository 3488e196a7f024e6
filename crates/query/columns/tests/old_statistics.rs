//! Statistics of writers from before 2017 are in an order that few types have; no row is lost by them.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, UInt32Array};
use nandle_columns::{Predicate, ScanSpec, Snapshot};
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use support::footers::{change, with_chunks, with_groups, write};
use support::{batches, codes};

fn file(path: &Path, column: ArrayRef, old: &Statistics) -> Snapshot {
    write(path, &RecordBatch::try_from_iter([("n", column)]).unwrap());
    let replaced = |group| with_chunks(group, |chunk| chunk.set_statistics(old.clone()));
    change(path, |metadata| with_groups(&metadata, replaced));
    Snapshot::of_files(&[path.to_owned()]).unwrap()
}

fn found(snapshot: &Snapshot, value: &str) -> Vec<String> {
    let spec = ScanSpec::of(["n"]).with(Predicate::is_in("n", [value]));
    let found = batches(snapshot, &spec);
    assert_eq!(found, codes(snapshot, &spec));
    found
}

#[test]
fn those_of_another_order_rule_nothing_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.parquet");
    let numbers = UInt32Array::from(vec![1, 4_294_967_291]);
    let signed = Statistics::int32(Some(-5), Some(1), None, Some(0), true);
    let snapshot = file(&path, Arc::new(numbers), &signed);
    assert_eq!(found(&snapshot, "1"), ["1"]);
    assert_eq!(found(&snapshot, "4294967291"), ["4294967291"]);
    let names = StringArray::from(vec!["Äthiopien", "Aachen"]);
    let bytes = |text: &str| Some(ByteArray::from(text));
    // The first byte of Ä is negative where bytes have signs.
    let signed = ValueStatistics::new(bytes("Äthiopien"), bytes("Aachen"), None, Some(0), true);
    let snapshot = file(&path, Arc::new(names), &Statistics::ByteArray(signed));
    assert_eq!(found(&snapshot, "Aachen"), ["Aachen"]);
    assert_eq!(found(&snapshot, "Äthiopien"), ["Äthiopien"]);
}

#[test]
fn those_of_numbers_with_signs_still_count() {
    let directory = tempfile::tempdir().unwrap();
    let numbers = Int32Array::from(vec![-5, 1]);
    let old = Statistics::int32(Some(-5), Some(1), None, Some(0), true);
    let snapshot = file(&directory.path().join("old.parquet"), Arc::new(numbers), &old);
    assert_eq!(found(&snapshot, "-5"), ["-5"]);
    let beyond = ScanSpec::of(["n"]).with(Predicate::is_in("n", ["2"]));
    assert_eq!(snapshot.scan(&beyond).unwrap().steps(), 0);
}
