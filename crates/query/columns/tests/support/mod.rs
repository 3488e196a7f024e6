//! Rows for tests, and helpers that read them by both decoders.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int8Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMillisecondArray, types::Int32Type,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use nandle_columns::{BatchDecoder, CodeDecoder, DirectBytes, NULL_CODE, ScanSpec, Snapshot};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) mod footers;
pub(crate) mod hooked_files;
pub(crate) mod model_files;

pub(crate) const AIRPORTS: [&str; 6] = ["IAH", "HOU", "DFW", "AUS", "SAT", "LBB"];

/// Random rows: repeating and distinct columns, with and without nulls.
pub(crate) fn flights(seed: u64, rows: usize, month: i8) -> RecordBatch {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw = |below: i64| random.random_range(0..below);
    let origin: StringArray = (0..rows).map(|_| Some(AIRPORTS[usize::try_from(draw(6)).unwrap()])).collect();
    let carrier: DictionaryArray<Int32Type> =
        (0..rows).map(|_| ["AA", "WN", "CO"].get(usize::try_from(draw(4)).unwrap()).copied()).collect();
    let delay: Int32Array =
        (0..rows).map(|_| Some(draw(300) as i32 - 20).filter(|delay| delay % 11 != 0)).collect();
    let id: Int64Array =
        (0..rows).map(|row| Some(seed.cast_signed() << 32 | row.cast_signed() as i64)).collect();
    let note: StringArray =
        (0..rows).map(|_| Some(draw(1 << 40)).filter(|n| n % 5 != 0).map(|n| format!("note {n}"))).collect();
    let late: BooleanArray = (0..rows).map(|_| Some(draw(3)).filter(|n| *n < 2).map(|n| n == 1)).collect();
    let at: TimestampMillisecondArray =
        (0..rows).map(|_| Some(1_200_000_000_000 + 1000 * draw(1_000_000))).collect();
    let nothing = Int32Array::new_null(rows);
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("year", Arc::new(Int16Array::from(vec![2008; rows])), false),
        ("month", Arc::new(Int8Array::from(vec![month; rows])), false),
        ("origin", Arc::new(origin), false),
        ("carrier", Arc::new(carrier), true),
        ("delay", Arc::new(delay), true),
        ("id", Arc::new(id), false),
        ("note", Arc::new(note), true),
        ("late", Arc::new(late), true),
        ("at", Arc::new(at), false),
        ("nothing", Arc::new(nothing), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

pub(crate) fn schema() -> Arc<Schema> {
    flights(0, 1, 1).schema()
}

/// Each row as text.
pub(crate) fn text(batch: &RecordBatch) -> Vec<String> {
    let columns: Vec<ArrayRef> =
        batch.columns().iter().map(|column| cast(column, &DataType::Utf8).unwrap()).collect();
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| value(column, row)).collect::<Vec<_>>().join("|"))
        .collect()
}

fn value(column: &ArrayRef, row: usize) -> String {
    let column = column.as_string::<i32>();
    if column.is_null(row) { "-".to_owned() } else { column.value(row).to_owned() }
}

pub(crate) fn everything(snapshot: &Snapshot) -> ScanSpec {
    ScanSpec::of(snapshot.schema().fields().iter().map(|field| field.name().clone()))
}

/// Rows of a scan through Arrow, as text.
pub(crate) fn batches(snapshot: &Snapshot, spec: &ScanSpec) -> Vec<String> {
    let plan = snapshot.scan(spec).unwrap();
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let mut rows = Vec::new();
    while let Some(batch) = decoder.next(&mut bytes).unwrap() {
        assert_eq!(batch.schema().as_ref(), plan.schema().as_ref());
        rows.extend(text(&batch));
    }
    rows
}

/// Rows of a scan through codes, as text.
pub(crate) fn codes(snapshot: &Snapshot, spec: &ScanSpec) -> Vec<String> {
    let plan = snapshot.scan(spec).unwrap();
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), CodeDecoder::new(&plan));
    let mut rows = Vec::new();
    while let Some(batch) = decoder.next(&mut bytes).unwrap() {
        let dictionaries: Vec<ArrayRef> =
            batch.columns.iter().map(|column| cast(&column.dictionary, &DataType::Utf8).unwrap()).collect();
        let codes: Vec<Vec<u32>> = batch.columns.iter().map(|column| column.codes().to_vec()).collect();
        for codes in &codes {
            assert_eq!(codes.len(), batch.rows);
        }
        let text = |place: usize, row: usize| match codes[place][row] {
            NULL_CODE => "-".to_owned(),
            code => value(&dictionaries[place], code as usize),
        };
        rows.extend(
            (0..batch.rows).map(|row| {
                (0..dictionaries.len()).map(|place| text(place, row)).collect::<Vec<_>>().join("|")
            }),
        );
    }
    rows
}
