//! Tables of the statements: Parquet files with several row groups and pages. All columns except
//! keys have nulls.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int8Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::support::write as write_file;

pub(super) const NAMES: [&str; 3] = ["trips", "cities", "nothing"];

/// Rows of each file of trips.
const FILES: [i64; 3] = [1100, 500, 900];
const ROW_GROUP_ROWS: usize = 250;
const PAGE_ROWS: usize = 50;
/// `2007-11-01` in days after `1970-01-01`.
const FIRST_DAY: i64 = 13_818;
const DAY_US: i64 = 86_400_000_000;

/// Writes all tables below a directory.
pub(super) fn write(directory: &Path) {
    for name in NAMES {
        std::fs::create_dir_all(directory.join(name)).unwrap();
    }
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    let mut first = 0;
    for (number, rows) in FILES.into_iter().enumerate() {
        let path = directory.join(format!("trips/{number}.parquet"));
        write_file(&path, &trips(first, rows), &properties);
        first += rows;
    }
    let cities = cities();
    write_file(&directory.join("cities/all.parquet"), &cities, &properties);
    write_file(&directory.join("nothing/none.parquet"), &cities.slice(0, 0), &properties);
}

/// Destinations of trips. `Atlantis` isn't in the table of cities, and no trip goes to `Quito`.
const CITIES: [&str; 6] = ["Oslo", "Lima", "Kyoto", "Tórshavn", "São Paulo", "Atlantis"];

fn trips(first: i64, count: i64) -> RecordBatch {
    let ids = || first..first + count;
    // Null in every `every`th row, otherwise the value.
    let but = |row: i64, every: i64, value: i64| (row % every != every - 1).then_some(value);
    let city = |row: i64| CITIES[usize::try_from(row * 5 % 6).unwrap()];
    let at = |row: i64| (FIRST_DAY + row / 6) * DAY_US + row * 613 % 86_400 * 1_000_000;
    let fees = ids().map(|row| but(row, 19, row * 37 % 5000 - 700).map(i128::from));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(ids().collect::<Int64Array>())),
        ("city", Arc::new(ids().map(|row| but(row, 11, row).map(city)).collect::<StringArray>())),
        (
            "seats",
            Arc::new(ids().map(|row| but(row, 13, row * 7 % 61).map(narrow::<i32>)).collect::<Int32Array>()),
        ),
        (
            "level",
            Arc::new(ids().map(|row| but(row, 7, row % 5 - 2).map(narrow::<i8>)).collect::<Int8Array>()),
        ),
        (
            "price",
            Arc::new(ids().map(|row| but(row, 17, row * 31 % 1000).map(quarter)).collect::<Float64Array>()),
        ),
        ("fee", Arc::new(fees.collect::<Decimal128Array>().with_precision_and_scale(9, 2).unwrap())),
        (
            "day",
            Arc::new(
                ids()
                    .map(|row| but(row, 23, FIRST_DAY + row / 6).map(narrow::<i32>))
                    .collect::<Date32Array>(),
            ),
        ),
        ("left_at", Arc::new(ids().map(|row| but(row, 29, at(row))).collect::<TimestampMicrosecondArray>())),
        (
            "open",
            Arc::new(ids().map(|row| but(row, 5, row).map(|row| row % 3 == 0)).collect::<BooleanArray>()),
        ),
        ("note", Arc::new(ids().map(|row| but(row, 9, row).map(note)).collect::<StringArray>())),
    ];
    batch(columns)
}

fn note(row: i64) -> String {
    format!("note {}", row * 7919 % 10_007)
}

fn quarter(value: i64) -> f64 {
    value as f64 / 4.0
}

fn narrow<T: TryFrom<i64, Error: std::fmt::Debug>>(value: i64) -> T {
    value.try_into().unwrap()
}

fn cities() -> RecordBatch {
    let names = ["Oslo", "Lima", "Kyoto", "Tórshavn", "São Paulo", "Quito"];
    let countries = [Some("NO"), Some("PE"), Some("JP"), Some("FO"), Some("BR"), None];
    let people = [Some(709_000), Some(10_092_000), Some(1_464_000), None, Some(11_452_000), Some(1_763_000)];
    batch(vec![
        ("name", Arc::new(StringArray::from(names.to_vec()))),
        ("country", Arc::new(StringArray::from(countries.to_vec()))),
        ("people", Arc::new(Int64Array::from(people.to_vec()))),
    ])
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, name != "id" && name != "name")),
    )
    .unwrap()
}
