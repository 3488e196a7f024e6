//! Forged lengths and row counts are rejected before they allocate memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod support;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch};
use nandle_columns::{ColumnsError, Snapshot, Table, TableOptions};
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder};
use support::footers::{change, with_chunks, with_groups, write};
use support::{flights, schema};

/// Extends a file sparsely to a tebibyte.
fn stretch(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
fn rows_that_no_file_can_have_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let rows = 1_i64 << 50;
    write(&path, &RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![1, 2])) as _)]).unwrap());
    change(&path, |metadata| {
        let metadata = with_groups(&metadata, |group| {
            let group = with_chunks(group, |chunk| chunk.set_num_values(rows));
            group.into_builder().set_num_rows(rows).build().unwrap()
        });
        let file = metadata.file_metadata();
        let schema = file.schema_descr_ptr();
        let file = FileMetaData::new(file.version(), rows, None, None, schema, None);
        ParquetMetaDataBuilder::new(file).set_row_groups(metadata.row_groups().to_vec()).build()
    });
    let error = Snapshot::of_files(&[path]).unwrap_err();
    assert!(matches!(&error, ColumnsError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains(&rows.to_string()), "{error}");
}

#[test]
fn lengths_are_looked_at_first() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &TableOptions::new(schema(), 1)).unwrap();
    let mut writer = table.load().unwrap();
    writer.write(&flights(1, 10, 1)).unwrap();
    writer.commit().unwrap();
    for name in ["data/2-0.sums", "manifest-2.json", "CURRENT"] {
        let path = directory.path().join(name);
        let intact = std::fs::read(&path).unwrap();
        stretch(&path);
        let error = table.snapshot().unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(&(1_u64 << 40).to_string()), "{name}: {error}");
        std::fs::write(&path, intact).unwrap();
    }
    table.snapshot().unwrap();
}
