//! Statistics of writers before 2017 have an order that suits few types, and some aren't bounds at
//! all; no row is lost by them.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array};
use nandle_columns::{Predicate, ScanSpec, Snapshot};
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use support::footers::{change, with_chunks, with_groups, write, write_inverted_page};
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
    // The first byte of Ä is negative if bytes are signed.
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

#[test]
fn bounds_that_are_inverted_rule_nothing_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inverted.parquet");
    let inverted = |column: ArrayRef, wrong: Statistics, value: &str| {
        assert_eq!(found(&file(&path, column, &wrong), value), [value]);
    };
    let (nulls, numbers) = (Some(0), Int32Array::from(vec![5, 9]));
    inverted(Arc::new(numbers.clone()), Statistics::int32(Some(9), Some(5), None, nulls, false), "5");
    inverted(
        Arc::new(UInt32Array::from(vec![7])),
        Statistics::int32(Some(-1), Some(9), None, nulls, false),
        "7",
    );
    let doubles = Float64Array::from(vec![1.5]);
    inverted(Arc::new(doubles), Statistics::double(Some(9.0), Some(f64::NAN), None, nulls, false), "1.5");
    let bytes = |text: &str| Some(ByteArray::from(text));
    let texts = ValueStatistics::new(bytes("z"), bytes("a"), None, nulls, false);
    inverted(Arc::new(StringArray::from(vec!["m"])), Statistics::ByteArray(texts), "m");
    // Other statistics are still used.
    let wrong = Statistics::int32(Some(9), Some(5), None, nulls, false);
    let nulls = ScanSpec::of(["n"]).with(Predicate::is_null("n"));
    assert_eq!(file(&path, Arc::new(numbers), &wrong).scan(&nulls).unwrap().steps(), 0);
}

#[test]
fn pages_whose_bounds_are_inverted_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inverted.parquet");
    let batch =
        RecordBatch::try_from_iter([("n", Arc::new((0..100).collect::<Int32Array>()) as ArrayRef)]).unwrap();
    write_inverted_page(&path, &batch);
    let snapshot = Snapshot::of_files(&[path]).unwrap();
    assert_eq!(found(&snapshot, "42"), ["42"]);
}
