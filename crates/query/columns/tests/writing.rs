//! Memory of writes, and rows whose writer panics.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use nandle_columns::{Clustering, Table, TableOptions};
use parquet::file::metadata::RowGroupMetaData;
use support::hooked_files::HookedFiles;
use support::{everything, flights, schema};

fn create(directory: &Path, clustering: Clustering) -> Table {
    Table::create(directory, &TableOptions { clustering, ..TableOptions::new(schema(), 7) }).unwrap()
}

fn batches() -> impl Iterator<Item = RecordBatch> {
    (0..20).map(|seed| flights(seed, 10_000, 1))
}

/// Rows of each row group of a load with less memory than the table's 128 MiB.
fn group_rows(clustering: Clustering, bytes: u64) -> Vec<i64> {
    let directory = tempfile::tempdir().unwrap();
    let table = create(directory.path(), clustering);
    let layout = table.manifest().unwrap().layout;
    let mut writer = table.load().unwrap().with_row_groups_of(bytes);
    batches().for_each(|batch| writer.write(&batch).unwrap());
    writer.commit().unwrap();
    assert_eq!(table.manifest().unwrap().layout, layout, "the next load has the layout's");
    let snapshot = table.snapshot().unwrap();
    assert_eq!(support::batches(&snapshot, &everything(&snapshot)).len(), 200_000);
    let groups = snapshot.files().iter().flat_map(|file| file.metadata().row_groups());
    groups.map(RowGroupMetaData::num_rows).collect()
}

#[test]
fn row_groups_of_a_load_take_the_memory_that_it_has() {
    let columns = || vec!["carrier".to_owned(), "origin".to_owned(), "delay".to_owned()];
    assert_eq!(group_rows(Clustering::None, u64::MAX), [200_000]);
    for clustering in [Clustering::None, Clustering::Sort(columns()), Clustering::Cells(columns())] {
        // A row takes at least 60 bytes in memory.
        let rows = group_rows(clustering.clone(), 2 << 20);
        assert!(rows.iter().all(|rows| *rows <= (2 << 20) / 15), "{clustering:?}: {rows:?}");
        assert!(rows.len() > 2, "{clustering:?}: {rows:?}");
    }
}

#[test]
fn a_panic_while_rows_are_written_is_an_error_and_never_a_commit() {
    let directory = tempfile::tempdir().unwrap();
    create(directory.path(), Clustering::None);
    let hook = |operation: &str, path: &str| {
        assert!(!(operation == "write" && path.starts_with("data/")), "the sink gave way");
        Ok(())
    };
    let table = Table::open_in(Arc::new(HookedFiles::new(directory.path(), hook))).unwrap();
    for (row_group_bytes, action) in
        [(1, "writing 10000 rows behind 0"), (u64::MAX, "ending the file of 10000")]
    {
        let mut writer = table.load().unwrap().with_row_groups_of(row_group_bytes);
        // Rows wait until their encoding is chosen.
        writer.write(&flights(1, 10_000, 1)).unwrap();
        let text = writer.commit().unwrap_err().to_string();
        for part in ["`data/2-0.parquet`", action, "the sink gave way"] {
            assert!(text.contains(part), "{part:?} is missing in {text}");
        }
        assert_eq!(table.snapshot().unwrap().rows(), 0);
        assert_eq!(std::fs::read_dir(directory.path().join("data")).unwrap().count(), 0);
    }
}

#[test]
fn rows_of_which_a_part_got_lost_are_not_committed() {
    let directory = tempfile::tempdir().unwrap();
    create(directory.path(), Clustering::None);
    let hook = |operation: &str, path: &str| match (operation, path) {
        ("write", "data/2-0.parquet.partial") => Err(std::io::Error::other("refused once")),
        _ => Ok(()),
    };
    let table = Table::open_in(Arc::new(HookedFiles::new(directory.path(), hook))).unwrap();
    let mut writer = table.load().unwrap().with_row_groups_of(1);
    // The decision about encodings takes 64 Ki rows.
    writer.write(&flights(1, 70_000, 1)).unwrap_err();
    let error = writer.write(&flights(1, 10, 1)).unwrap_err().to_string();
    assert!(error.contains("a write of these rows has failed"), "{error}");
    let error = writer.commit().unwrap_err().to_string();
    assert!(error.contains("a write of these rows has failed"), "{error}");
    assert_eq!(table.snapshot().unwrap().rows(), 0);
}
