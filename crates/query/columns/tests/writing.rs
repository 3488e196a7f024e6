//! What writing takes of memory.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::path::Path;

use arrow_array::RecordBatch;
use nandle_columns::{Clustering, Table, TableOptions};
use support::{everything, flights, schema};

fn create(directory: &Path, clustering: Clustering) -> Table {
    Table::create(directory, &TableOptions { clustering, ..TableOptions::new(schema(), 7) }).unwrap()
}

fn batches() -> impl Iterator<Item = RecordBatch> {
    (0..20).map(|seed| flights(seed, 10_000, 1))
}

/// The rows of each row group of a table whose row groups take 128 MiB, when a load takes less.
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
    groups.map(|group| group.num_rows()).collect()
}

#[test]
fn row_groups_of_a_load_take_the_memory_that_it_has() {
    let columns = || vec!["carrier".to_owned(), "origin".to_owned(), "delay".to_owned()];
    assert_eq!(group_rows(Clustering::None, u64::MAX), [200_000]);
    for clustering in [Clustering::None, Clustering::Sort(columns()), Clustering::Cells(columns())] {
        // A row takes 60 bytes and more in memory.
        let rows = group_rows(clustering.clone(), 2 << 20);
        assert!(rows.iter().all(|rows| *rows <= (2 << 20) / 15), "{clustering:?}: {rows:?}");
        assert!(rows.len() > 2, "{clustering:?}: {rows:?}");
    }
}
