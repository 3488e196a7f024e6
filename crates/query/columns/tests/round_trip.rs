//! Rows written to a table are read back by both decoders.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]

mod support;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use nandle_columns::{Clustering, ColumnsError, Layout, Predicate, ScanSpec, Table, TableOptions};
use support::{batches, codes, everything, flights, schema, text};

fn small_layout() -> Layout {
    Layout { page_bytes: 2048, page_rows: 700, row_group_rows: 5000, file_rows: 12_000, ..Layout::default() }
}

fn options(layout: Layout) -> TableOptions {
    TableOptions { layout, ..TableOptions::new(schema(), 7) }
}

fn load(table: &Table, batch: &RecordBatch) {
    let mut writer = table.load().unwrap();
    (0..batch.num_rows())
        .step_by(900)
        .for_each(|from| writer.write(&batch.slice(from, 900.min(batch.num_rows() - from))).unwrap());
    writer.commit().unwrap();
}

#[test]
fn runs_are_appended() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    assert_eq!(table.snapshot().unwrap().rows(), 0);
    assert!(batches(&table.snapshot().unwrap(), &ScanSpec::of(["year"])).is_empty());
    let (one, two) = (flights(1, 20_000, 1), flights(2, 3000, 2));
    load(&table, &one);
    load(&table, &two);
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    assert_eq!(snapshot.manifest().unwrap().snapshot, 3);
    assert_eq!(snapshot.files().len(), 3);
    let expected = [text(&one), text(&two)].concat();
    for step_rows in [1000, 4096, 1 << 20] {
        let spec = ScanSpec { step_rows, ..everything(&snapshot) };
        assert!(batches(&snapshot, &spec) == expected, "batches of {step_rows}");
        assert!(codes(&snapshot, &spec) == expected, "codes of {step_rows}");
    }
    assert!(table.verify().unwrap().is_empty());
}

#[test]
fn predicates_are_exact_and_prune() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    let all =
        concat_batches(&schema(), &[flights(1, 9000, 1), flights(2, 9000, 2), flights(3, 9000, 3)]).unwrap();
    load(&table, &all);
    let snapshot = table.snapshot().unwrap();
    let spec = ScanSpec { step_rows: 1500, ..ScanSpec::of(["origin", "month", "delay"]) };
    let spec = spec
        .with(Predicate::between("month", Some("2"), Some("2")))
        .with(Predicate::is_in("carrier", ["AA", "WN"]));
    let kept = text(&all).into_iter().filter_map(|row| {
        let parts: Vec<&str> = row.split('|').collect();
        (parts[1] == "2" && ["AA", "WN"].contains(&parts[3]))
            .then(|| [parts[2], parts[1], parts[4]].join("|"))
    });
    let expected: Vec<String> = kept.collect();
    assert!(!expected.is_empty());
    assert_eq!(batches(&snapshot, &spec), expected);
    assert_eq!(codes(&snapshot, &spec), expected);
    let plan = snapshot.scan(&spec).unwrap();
    assert!(plan.candidate_rows() < 11_000, "pages of other months are not read: {}", plan.candidate_rows());
    let whole = snapshot.scan(&ScanSpec::of(["origin", "month", "delay", "carrier"])).unwrap();
    let bytes =
        |plan: &nandle_columns::ScanPlan| plan.wants().iter().map(|want| want.length_bytes).sum::<u64>();
    assert!(bytes(&plan) * 2 < bytes(&whole));
    let none = ScanSpec::of(["origin"]).with(Predicate::is_in("month", ["9"]));
    assert_eq!(snapshot.scan(&none).unwrap().steps(), 0);
    assert!(codes(&snapshot, &none).is_empty());
}

#[test]
fn replacing_takes_the_place_of_the_same_keys() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    let (one, two, three) = (flights(1, 6000, 1), flights(2, 6000, 2), flights(3, 6000, 3));
    load(&table, &concat_batches(&schema(), &[one.clone(), two]).unwrap());
    load(&table, &three);
    let old = table.snapshot().unwrap();
    let revised = flights(9, 500, 2);
    let mut writer = table.replace(&["year", "month"]).unwrap();
    writer.write(&revised).unwrap();
    assert_eq!(writer.commit().unwrap().made.snapshot, 4);
    let new = table.snapshot().unwrap();
    assert_eq!(batches(&new, &everything(&new)), [text(&one), text(&three), text(&revised)].concat());
    assert_eq!(batches(&old, &everything(&old)).len(), 18_000, "a reader keeps its snapshot");
    let files = |pattern: &str| {
        let names = std::fs::read_dir(directory.path().join("data")).unwrap();
        names.filter(|name| name.as_ref().unwrap().file_name().to_str().unwrap().contains(pattern)).count()
    };
    assert_eq!(files("2-0"), 2, "the old file is there as long as its reader");
    drop(old);
    drop(table.load().unwrap());
    assert_eq!(files("2-0"), 0, "and goes with the next writer");
    assert!(table.verify().unwrap().is_empty());
}

#[test]
fn compaction_keeps_rows_and_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    let runs: Vec<RecordBatch> = (0..5).map(|seed| flights(seed, 1000, seed as i8)).collect();
    for run in &runs {
        load(&table, run);
    }
    table.compact(1 << 20).unwrap();
    let snapshot = table.snapshot().unwrap();
    assert_eq!(snapshot.manifest().unwrap().runs.len(), 1);
    assert_eq!(batches(&snapshot, &everything(&snapshot)), runs.iter().flat_map(text).collect::<Vec<_>>());
}

#[test]
fn clustering_orders_rows() {
    for clustering in [
        Clustering::Sort(vec!["origin".into(), "delay".into()]),
        Clustering::Cells(vec!["carrier".into(), "origin".into()]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let options = TableOptions { clustering: clustering.clone(), ..options(small_layout()) };
        let table = Table::create(directory.path(), &options).unwrap();
        let rows = flights(4, 10_000, 5);
        load(&table, &rows);
        let snapshot = table.snapshot().unwrap();
        let mut got = batches(&snapshot, &everything(&snapshot));
        let cells = batches(&snapshot, &ScanSpec::of(["carrier", "origin"]));
        let origins = batches(&snapshot, &ScanSpec::of(["origin"]));
        let stretches = |rows: &[String]| 1 + rows.windows(2).filter(|pair| pair[0] != pair[1]).count();
        match clustering {
            Clustering::Sort(_) => assert_eq!(stretches(&origins), 6),
            _ => assert_eq!(stretches(&cells), 24, "rows of a combination are together"),
        }
        let mut expected = text(&rows);
        got.sort();
        expected.sort();
        assert_eq!(got, expected);
    }
}

#[test]
fn other_columns_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    let rows = flights(1, 10, 1);
    let swapped = rows.project(&[0, 2, 1, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let mut writer = table.load().unwrap();
    let error = writer.write(&swapped).unwrap_err();
    assert!(matches!(&error, ColumnsError::Schema { column, .. } if column == "month"), "{error}");
    let error = writer.write(&rows.project(&[0, 1]).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `origin` is missing, and the table has Utf8; change the rows, or make a new table"
    );
    writer.write(&rows).unwrap();
    writer.commit().unwrap();
    assert_eq!(table.snapshot().unwrap().rows(), 10);
    let error = table.snapshot().unwrap().scan(&ScanSpec::of(["dest"])).unwrap_err();
    assert!(error.to_string().starts_with("there is no column `dest`; there are: year, month"), "{error}");
}

#[test]
fn what_parquet_has_no_type_for_is_refused() {
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    for (data_type, named) in [
        (DataType::Timestamp(TimeUnit::Second, None), "milliseconds"),
        (DataType::new_list(DataType::Int32, true), "nested"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let schema = Schema::new(vec![Field::new("at", data_type, true)]);
        let error = Table::create(directory.path(), &TableOptions::new(schema.into(), 1)).unwrap_err();
        assert!(error.to_string().contains(named) && error.to_string().contains("`at`"), "{error}");
    }
}

#[test]
fn two_columns_of_a_name_are_refused() {
    use arrow_schema::{DataType, Field, Schema};
    let directory = tempfile::tempdir().unwrap();
    let field = Field::new("a", DataType::Int32, true);
    let schema = Schema::new(vec![field.clone(), Field::new("b", DataType::Int32, true), field]);
    let error = Table::create(directory.path(), &TableOptions::new(schema.into(), 1)).unwrap_err();
    assert_eq!(error.to_string(), "column `a`: there are two of this name; call one of them otherwise");
}

#[test]
fn one_writes_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::create(directory.path(), &options(small_layout())).unwrap();
    let mut first = table.load().unwrap();
    assert!(matches!(table.load().unwrap_err(), ColumnsError::Locked));
    first.write(&flights(1, 100_000, 1)).unwrap();
    drop(first);
    drop(table.load().unwrap());
    assert_eq!(
        std::fs::read_dir(directory.path().join("data")).unwrap().count(),
        0,
        "what was abandoned is gone"
    );
    assert!(matches!(
        Table::create(directory.path(), &options(small_layout())).unwrap_err(),
        ColumnsError::TableExists
    ));
}
