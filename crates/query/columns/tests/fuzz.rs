//! Modified manifests with a matching root: an error or a usable table, but no panic, and no access
//! outside of the directory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod support;

use std::path::Path;
use std::sync::OnceLock;

use nandle_columns::{BatchDecoder, ColumnsError, DirectBytes, Layout, Table, TableOptions};
use proptest::prelude::*;
use serde_json::Value;
use support::{everything, flights, schema};

struct Base {
    directory: tempfile::TempDir,
    manifest: String,
    json: Vec<u8>,
}

/// A table of two files, shared read-only by all cases.
fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("outside.parquet"), "not the table's").unwrap();
        let layout = Layout { file_rows: 60, ..Layout::default() };
        let options = TableOptions { layout, ..TableOptions::new(schema(), 1) };
        let table = Table::create(&directory.path().join("t"), &options).unwrap();
        let mut writer = table.load().unwrap();
        writer.write(&flights(1, 100, 1)).unwrap();
        writer.commit().unwrap();
        let manifest = "manifest-2.json".to_owned();
        let json = std::fs::read(directory.path().join("t").join(&manifest)).unwrap();
        Base { directory, manifest, json }
    })
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn look_at(table: &Table) -> Result<usize, ColumnsError> {
    let snapshot = table.snapshot()?;
    let plan = snapshot.scan(&everything(&snapshot))?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let mut rows = 0;
    while let Some(batch) = decoder.next(&mut bytes)? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

/// Uses a table with this manifest in every way.
fn use_with(json: &[u8]) {
    let base = base();
    let place = tempfile::tempdir_in(base.directory.path()).unwrap();
    let directory = place.path().join("t");
    copy(&base.directory.path().join("t"), &directory);
    std::fs::write(directory.join(&base.manifest), json).unwrap();
    let root = format!("{} {:08x}\n", base.manifest, crc32c::crc32c(json));
    std::fs::write(directory.join("CURRENT"), root).unwrap();
    if let Ok(table) = Table::open(&directory) {
        let is_sound = table.verify().is_ok_and(|found| found.is_empty());
        let rows = look_at(&table);
        if let Ok(rows) = rows {
            assert!(rows <= 100 || !is_sound, "{rows} rows of 100");
        }
        let _ = table.compact(1 << 20);
        let added = table.load().and_then(|mut writer| {
            writer.write(&flights(2, 10, 1))?;
            writer.commit()
        });
        if added.is_ok() {
            let _ = look_at(&table);
        }
    }
    assert!(base.directory.path().join("outside.parquet").exists());
}

/// Returns the value with this number in a document.
fn value_at<'a>(value: &'a mut Value, number: &mut usize) -> Option<&'a mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| value_at(value, number)),
        Value::Object(values) => values.values_mut().find_map(|value| value_at(value, number)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..3).prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        proptest::sample::select(vec![
            "../outside.parquet",
            "data/../../outside.parquet",
            "/etc/passwd",
            "data/",
            "data/2-0.parquet",
            "data/2-1.sums",
            "Utf8",
            "Int64",
            "Dictionary(UInt16, Utf8)",
            "LargeUtf8",
            "id",
            "delay",
            "nothing",
            "ffffffffffffffff",
            "00000000",
            "",
        ])
        .prop_map(Value::from),
        Just(serde_json::json!([])),
        Just(serde_json::json!({})),
        Just(serde_json::json!({"sort": ["origin", "nothing"]})),
        Just(serde_json::json!({"cells": ["month", "note"]})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn values_of_a_manifest(changes in proptest::collection::vec((0_usize..200, values()), 1..3)) {
        let mut manifest: Value = serde_json::from_slice(&base().json).unwrap();
        for (mut number, value) in changes {
            if let Some(found) = value_at(&mut manifest, &mut number) {
                *found = value;
            }
        }
        use_with(&serde_json::to_vec(&manifest).unwrap());
    }

    #[test]
    fn bytes_of_a_manifest(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4), cut in proptest::option::weighted(0.2, any::<proptest::sample::Index>())) {
        let mut json = base().json.clone();
        for (place, byte) in changes {
            let place = place.index(json.len());
            json[place] = byte;
        }
        if let Some(cut) = cut {
            json.truncate(cut.index(json.len()));
        }
        use_with(&json);
    }

    #[test]
    fn anything_as_a_root(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("CURRENT"), &bytes).unwrap();
        prop_assert!(Table::open(directory.path()).is_err());
    }
}
