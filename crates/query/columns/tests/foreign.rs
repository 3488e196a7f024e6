//! Parquet of other writers is read in place: both versions of data pages, several compressions and
//! encodings, abandoned dictionaries, with and without a page index. `fixtures/make.py` created the
//! files.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use nandle_columns::{
    AdoptOptions, Adoption, BatchDecoder, ColumnsError, DirectBytes, Predicate, ScanSpec, Snapshot, Table,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::WriterProperties;
use support::footers::write;
use support::{batches, codes, everything};

const FILES: [&str; 8] = [
    "v1-snappy",
    "v2-zstd-index",
    "v1-gzip-plain",
    "v2-none-delta",
    "v1-lz4-fallback",
    "v1-brotli-2003",
    "v1-none-checksums",
    "duckdb",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("tests/fixtures/{name}.parquet"))
}

fn rows() -> Vec<Vec<String>> {
    let row = |i: usize| {
        let or_null = |is_null: bool, text: String| if is_null { "-".to_owned() } else { text };
        let origin = ["IAH", "HOU", "DFW", "-", "AUS"][(i * i / 7) % 5];
        vec![
            origin.to_owned(),
            or_null(i.is_multiple_of(13), ((i * 37 % 400).cast_signed() - 20).to_string()),
            (1_000_000_000 + i).to_string(),
            ["AA", "WN"][i / 150 % 2].to_owned(),
            format!("{:?}", i as f64 / 8.0),
            or_null(i.is_multiple_of(5), i.is_multiple_of(3).to_string()),
            "-".to_owned(),
            format!("1970-01-0{}", 1 + i / 100),
        ]
    };
    (0..700).map(row).collect()
}

fn joined(rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    rows.into_iter().map(|row| row.join("|")).collect()
}

#[test]
fn files_of_other_writers_are_read() {
    for name in FILES {
        let snapshot = Snapshot::of_files(&[path(name)]).unwrap();
        for step_rows in [100, 1 << 20] {
            let spec = ScanSpec { step_rows, ..everything(&snapshot) };
            assert!(batches(&snapshot, &spec) == joined(rows()), "{name} as batches of {step_rows}");
            assert!(codes(&snapshot, &spec) == joined(rows()), "{name} as codes of {step_rows}");
        }
    }
}

#[test]
fn predicates_hold_in_all_of_them() {
    let expected: Vec<Vec<String>> = rows()
        .into_iter()
        .filter(|row| ["IAH", "AUS"].contains(&row[0].as_str()))
        .filter(|row| row[1] != "-" && (0..=50).contains(&row[1].parse::<i32>().unwrap()))
        .filter(|row| (1_000_000_123..=1_000_000_456).contains(&row[2].parse::<i64>().unwrap()))
        .map(|row| vec![row[7].clone(), row[0].clone()])
        .collect();
    assert!(!expected.is_empty());
    for name in FILES {
        let snapshot = Snapshot::of_files(&[path(name)]).unwrap();
        let spec = ScanSpec { step_rows: 64, ..ScanSpec::of(["day", "origin"]) }
            .with(Predicate::is_in("origin", ["IAH", "AUS"]))
            .with(Predicate::between("delay", Some("0"), Some("50")))
            .with(Predicate::between("id", Some("1000000123"), Some("1000000456")));
        assert_eq!(batches(&snapshot, &spec), joined(expected.clone()), "{name}");
        assert_eq!(codes(&snapshot, &spec), joined(expected.clone()), "{name}");
    }
}

#[test]
fn values_are_told_from_nulls_in_all_of_them() {
    for name in FILES {
        let snapshot = Snapshot::of_files(&[path(name)]).unwrap();
        let columns = snapshot.schema().fields().iter().map(|field| field.name().clone());
        for (place, column) in columns.enumerate() {
            for (predicate, is_null) in
                [(Predicate::is_null(&column), true), (Predicate::is_not_null(&column), false)]
            {
                let fits = |row: &Vec<String>| (row[place] == "-") == is_null;
                let expected = joined(rows().into_iter().filter(fits));
                let spec = ScanSpec { step_rows: 64, ..everything(&snapshot) }.with(predicate);
                assert!(batches(&snapshot, &spec) == expected, "{name}: {spec:?} as batches");
                assert!(codes(&snapshot, &spec) == expected, "{name}: {spec:?} as codes");
            }
        }
    }
}

#[test]
fn a_page_index_saves_reading() {
    let indexed = Snapshot::of_files(&[path("v2-zstd-index")]).unwrap();
    let spec = ScanSpec::of(["delay"]).with(Predicate::between("id", Some("1000000123"), Some("1000000124")));
    let wanted = indexed.scan(&spec).unwrap().wants().iter().map(|want| want.length_bytes).sum::<u64>();
    assert!(wanted < 2000, "{wanted} bytes");
    assert_eq!(indexed.scan(&spec).unwrap().steps(), 1);
}

/// Decodes all rows, or returns the error.
fn decoded(path: &Path) -> Result<Vec<RecordBatch>, ColumnsError> {
    let snapshot = Snapshot::of_files(&[path.to_owned()])?;
    let plan = snapshot.scan(&everything(&snapshot))?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    std::iter::from_fn(|| decoder.next(&mut bytes).transpose()).collect()
}

#[test]
fn checksums_of_pages_are_checked_where_a_file_has_them() {
    let directory = tempfile::tempdir().unwrap();
    let sound = path("v1-none-checksums");
    let (bytes, rows) = (std::fs::read(&sound).unwrap(), decoded(&sound).unwrap());
    let snapshot = Snapshot::of_files(std::slice::from_ref(&sound)).unwrap();
    let chunks = snapshot.files()[0].metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    let (from, to) = chunks.fold((u64::MAX, 0), |(from, to), chunk| {
        let (start, length) = chunk.byte_range();
        (from.min(start), to.max(start + length))
    });
    let damaged = directory.path().join("damaged.parquet");
    let mut errors = 0;
    for at in (from..to).step_by(5) {
        let mut bytes = bytes.clone();
        bytes[usize::try_from(at).unwrap()] ^= 4;
        std::fs::write(&damaged, bytes).unwrap();
        // Changes in a page header outside of its data, such as statistics, may have no effect.
        match decoded(&damaged) {
            Ok(read) => assert!(read == rows, "byte {at} makes other rows"),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > (to - from) / 10, "{errors} errors in {} bytes", to - from);
}

#[test]
fn nested_columns_are_refused_and_flat_ones_beside_them_read() {
    let snapshot = Snapshot::of_files(&[path("nested")]).unwrap();
    assert_eq!(batches(&snapshot, &ScanSpec::of(["flat"])), ["1", "2"]);
    let error = snapshot.scan(&ScanSpec::of(["route"])).unwrap_err();
    assert!(matches!(&error, ColumnsError::Unsupported { column, .. } if column == "route"), "{error}");
}

#[test]
fn encrypted_files_and_columns_are_errors() {
    let error = Snapshot::of_files(&[path("encrypted")]).unwrap_err();
    assert!(
        matches!(&error, ColumnsError::Encrypted { file } if file.ends_with("encrypted.parquet")),
        "{error}"
    );
    // Columns that aren't encrypted can be read.
    let snapshot = Snapshot::of_files(&[path("encrypted-column")]).unwrap();
    assert_eq!(batches(&snapshot, &ScanSpec::of(["open"])), ["1", "2"]);
    let plan = snapshot.scan(&ScanSpec::of(["secret"])).unwrap();
    let error = BatchDecoder::new(&plan).next(&mut DirectBytes::new(&plan)).unwrap_err();
    assert!(error.to_string().contains("column `secret`"), "{error}");
}

#[test]
fn adopted_files_stay_and_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let outside = directory.path().join("mine.parquet");
    std::fs::copy(path("v1-snappy"), &outside).unwrap();
    let place = directory.path().join("table");
    let table =
        Table::adopt(&place, &[outside.clone(), outside.clone()], &AdoptOptions::new(5, Adoption::Link))
            .unwrap();
    let snapshot = table.snapshot().unwrap();
    assert_eq!(batches(&snapshot, &everything(&snapshot)), joined(rows().into_iter().chain(rows())));
    assert!(table.verify().unwrap().is_empty());
    drop(snapshot);
    // The file is modified in place.
    let mut bytes = std::fs::read(&outside).unwrap();
    bytes[3000] ^= 1;
    std::fs::write(&outside, &bytes).unwrap();
    let found = table.verify().unwrap();
    let names = |file: &str| found.iter().filter(|error| error.to_string().contains(file)).count();
    assert!(names("data/1-0.parquet") > 0 && names("data/1-1.parquet") > 0, "{found:?}");
    assert!(found.iter().all(|error| matches!(error, ColumnsError::Damaged { .. })), "{found:?}");
    // Files with different columns don't form a table.
    let other = [path("v1-snappy"), path("nested")];
    let error =
        Table::adopt(&directory.path().join("other"), &other, &AdoptOptions::new(6, Adoption::LinkOrCopy))
            .unwrap_err();
    assert!(matches!(&error, ColumnsError::UnknownColumn { column, .. } if column == "origin"), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("there is no column `origin` in `tests/fixtures/nested.parquet`"), "{text}");
}

/// Files of named columns of numbers.
fn files(directory: &std::path::Path, columns: &[&[(&str, Option<i32>)]]) -> Vec<PathBuf> {
    let file = |(number, columns): (usize, &&[(&str, Option<i32>)])| {
        let path = directory.join(format!("{number}.parquet"));
        let array = |value: Option<i32>| Arc::new(Int32Array::from(vec![Some(1), value])) as ArrayRef;
        let columns = columns.iter().map(|(name, value)| (*name, array(*value), value.is_none()));
        write(&path, &RecordBatch::try_from_iter_with_nullable(columns).unwrap());
        path
    };
    columns.iter().enumerate().map(file).collect()
}

#[test]
fn a_later_file_with_more_columns_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let paths = files(directory.path(), &[&[("a", Some(2))], &[("a", Some(3)), ("b", Some(4))]]);
    let place = directory.path().join("table");
    for paths in [paths.clone(), paths.into_iter().rev().collect()] {
        let error = Table::adopt(&place, &paths, &AdoptOptions::new(1, Adoption::Link)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("column `b`") && text.contains(&paths[1].display().to_string()), "{text}");
        assert!(!place.exists(), "nothing was made");
    }
    let found = Snapshot::of_files(&[directory.path().join("0.parquet"), directory.path().join("1.parquet")]);
    assert_eq!(
        batches(&found.unwrap(), &ScanSpec::of(["a"])),
        ["1", "2", "1", "3"],
        "a scan needs no others"
    );
}

#[test]
fn a_column_of_another_type_is_named_with_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let id = files(directory.path(), &[&[("id", Some(2))]]).remove(0);
    let snapshot = Snapshot::of_files(&[path("v1-snappy"), id.clone()]).unwrap();
    let error = snapshot.scan(&ScanSpec::of(["id"])).unwrap_err();
    let expected = format!(
        "column `id` of `{}` is Int32, where Int64 is expected; change the file, or leave it out",
        id.display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_column_may_be_null_where_any_file_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let paths = files(directory.path(), &[&[("a", Some(2))], &[("a", None)]]);
    let snapshot = Snapshot::of_files(&paths).unwrap();
    assert!(snapshot.schema().field(0).is_nullable());
    assert_eq!(batches(&snapshot, &everything(&snapshot)), ["1", "2", "1", "-"]);
    assert_eq!(codes(&snapshot, &everything(&snapshot)), ["1", "2", "1", "-"]);
    let table =
        Table::adopt(&directory.path().join("table"), &paths, &AdoptOptions::new(1, Adoption::Link)).unwrap();
    table.compact(1 << 20).unwrap();
    let snapshot = table.snapshot().unwrap();
    assert_eq!(batches(&snapshot, &everything(&snapshot)), ["1", "2", "1", "-"]);
}

/// Pages so short that a predicate leaves runs of three rows.
fn pages_of_three(path: &Path) {
    let rows = 0..600;
    let key = Int32Array::from_iter_values(rows.clone().map(|row| row / 3 % 2));
    let text = StringArray::from_iter_values(rows.map(|row| format!("{row} {}", "long".repeat(20))));
    let columns: [(&str, ArrayRef); 2] = [("key", Arc::new(key)), ("text", Arc::new(text))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(3)
        .set_write_batch_size(3)
        .set_column_dictionary_enabled("text".into(), false)
        .set_compression(Compression::LZ4_RAW)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn pages_of_few_rows_are_read_without_those_between_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("few.parquet");
    pages_of_three(&path);
    let snapshot = Snapshot::of_files(&[path]).unwrap();
    for step_rows in [7, 100, 1 << 20] {
        let spec = ScanSpec { step_rows, ..ScanSpec::of(["text"]) }.with(Predicate::is_in("key", ["1"]));
        assert_eq!(snapshot.scan(&spec).unwrap().candidate_rows(), 300);
        let expected: Vec<String> = (0..600)
            .filter(|row| row / 3 % 2 == 1)
            .map(|row| format!("{row} {}", "long".repeat(20)))
            .collect();
        assert_eq!(batches(&snapshot, &spec), expected, "batches of {step_rows}");
        assert_eq!(codes(&snapshot, &spec), expected, "codes of {step_rows}");
    }
}

#[test]
fn damaged_pages_are_named_by_file_row_group_and_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("few.parquet");
    pages_of_three(&path);
    let snapshot = Snapshot::of_files(std::slice::from_ref(&path)).unwrap();
    let (start, length) = snapshot.files()[0].metadata().row_group(0).column(1).byte_range();
    let sound = std::fs::read(&path).unwrap();
    let mut errors = 0;
    for at in (start..start + length).step_by(7) {
        let mut bytes = sound.clone();
        bytes[usize::try_from(at).unwrap()] ^= 0xff;
        std::fs::write(&path, bytes).unwrap();
        if let Err(error) = decoded(&path) {
            let text = error.to_string();
            let place = format!("`{}`, row group 0, column `text`", path.display());
            assert!(text.starts_with(&place), "byte {at}: {text}");
            errors += 1;
        }
    }
    assert!(errors > 50, "{errors} errors");
}
