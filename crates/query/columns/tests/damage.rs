//! Damage is detected and located; hostile files never cause a panic.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]

mod support;

use std::path::{Path, PathBuf};

use nandle_columns::{
    BLOCK_BYTES, BatchDecoder, CodeDecoder, ColumnsError, DirectBytes, Layout, Place, ScanPlan, ScanSpec,
    Snapshot, Table, TableOptions,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{batches, everything, flights, schema};

fn table(directory: &Path, loads: u64) -> Table {
    let layout = Layout { page_bytes: 4096, row_group_rows: 4000, ..Layout::default() };
    let table = Table::create(directory, &TableOptions { layout, ..TableOptions::new(schema(), 1) }).unwrap();
    for seed in 0..loads {
        let mut writer = table.load().unwrap();
        writer.write(&flights(seed, 9000, 1)).unwrap();
        writer.commit().unwrap();
    }
    table
}

fn damaged_places(table: &Table) -> Vec<Place> {
    let place = |error: ColumnsError| match error {
        ColumnsError::Damaged { place, .. } => place,
        ColumnsError::Io { file, .. } => Place { file, ..Place::default() },
        other => panic!("{other}"),
    };
    table.verify().unwrap().into_iter().map(place).collect()
}

fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at as usize] ^= 0x10;
    std::fs::write(path, bytes).unwrap();
}

/// Offset of the middle of a column chunk.
fn middle(table: &Table, file: usize, row_group: usize, column: &str) -> u64 {
    let snapshot = table.snapshot().unwrap();
    let group = snapshot.files()[file].metadata().row_group(row_group).clone();
    let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == column).unwrap();
    let (start, length) = chunk.byte_range();
    start + length / 2
}

#[test]
fn every_damage_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), 2);
    let data = |name: &str| directory.path().join("data").join(name);
    let (id, note) = (middle(&table, 0, 1, "id"), middle(&table, 1, 2, "note"));
    assert!(damaged_places(&table).is_empty());
    flip(&data("2-0.parquet"), id);
    flip(&data("3-0.parquet"), note);
    let places = damaged_places(&table);
    let in_block = |place: Place, at: u64| Place { offset_bytes: Some(at - at % BLOCK_BYTES), ..place };
    assert!(places.contains(&in_block(Place::of_chunk("data/2-0.parquet", 1, "id"), id)), "{places:?}");
    assert!(places.contains(&in_block(Place::of_chunk("data/3-0.parquet", 2, "note"), note)), "{places:?}");
    let snapshot = table.snapshot().unwrap();
    assert_eq!(batches(&snapshot, &ScanSpec::of(["origin"])).len(), 18_000, "other columns can be read");
    let plan = snapshot.scan(&ScanSpec::of(["id"])).unwrap();
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let error = std::iter::from_fn(|| decoder.next(&mut bytes).transpose()).find_map(Result::err).unwrap();
    let place = Place::of_chunk("data/2-0.parquet", 1, "id");
    assert!(error.to_string().starts_with(&place.to_string()), "{error}");
    flip(&data("3-0.sums"), 50);
    assert!(damaged_places(&table).contains(&Place::of_file("data/3-0.sums")));
}

#[test]
fn swapped_cut_stale_and_missing_files_are_found() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 5] = [
        ("swapped", |data| {
            std::fs::rename(data.join("2-0.parquet"), data.join("x")).unwrap();
            std::fs::rename(data.join("3-0.parquet"), data.join("2-0.parquet")).unwrap();
            std::fs::rename(data.join("x"), data.join("3-0.parquet")).unwrap();
        }),
        ("swapped with its sums", |data| {
            std::fs::copy(data.join("3-0.parquet"), data.join("2-0.parquet")).unwrap();
            std::fs::copy(data.join("3-0.sums"), data.join("2-0.sums")).unwrap();
        }),
        ("cut", |data| {
            let file = std::fs::File::options().write(true).open(data.join("2-0.parquet")).unwrap();
            file.set_len(10_000).unwrap();
        }),
        ("longer", |data| {
            let file = std::fs::File::options().write(true).open(data.join("2-0.parquet")).unwrap();
            file.set_len(1 << 20).unwrap();
        }),
        ("missing", |data| std::fs::remove_file(data.join("2-0.parquet")).unwrap()),
    ];
    for (what, harm) in harms {
        let directory = tempfile::tempdir().unwrap();
        let table = table(directory.path(), 2);
        harm(&directory.path().join("data"));
        let places = damaged_places(&table);
        assert!(places.iter().any(|place| place.file.starts_with("data/2-0.")), "{what}: {places:?}");
        assert!(table.snapshot().is_err(), "{what}");
    }
}

#[test]
fn a_damaged_root_is_named() {
    let harms: [(&str, &[u8], &str); 5] = [
        ("CURRENT", b"", "CURRENT"),
        ("CURRENT", b"manifest-9.json 00000000\n", "manifest-9.json"),
        ("CURRENT", b"../manifest-2.json 00000000\n", "CURRENT"),
        ("manifest-2.json", b"{}", "manifest-2.json"),
        ("manifest-2.json", b"", "manifest-2.json"),
    ];
    for (file, content, named) in harms {
        let directory = tempfile::tempdir().unwrap();
        table(directory.path(), 1);
        std::fs::write(directory.path().join(file), content).unwrap();
        let error = Table::open(directory.path()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
    let nowhere = tempfile::tempdir().unwrap();
    assert!(matches!(Table::open(nowhere.path()).unwrap_err(), ColumnsError::NotATable { .. }));
}

fn read_by_both(path: &PathBuf) -> Result<usize, ColumnsError> {
    let snapshot = Snapshot::of_files(std::slice::from_ref(path))?;
    let plan: ScanPlan = snapshot.scan(&everything(&snapshot))?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let mut rows = 0;
    while let Some(batch) = decoder.next(&mut bytes)? {
        rows += batch.num_rows();
    }
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), CodeDecoder::new(&plan));
    while let Some(batch) = decoder.next(&mut bytes)? {
        rows += batch.rows;
    }
    Ok(rows)
}

/// Foreign files without checksums, with bytes changed or cut off at random places.
#[test]
fn hostile_files_are_errors_and_no_panics() {
    let directory = tempfile::tempdir().unwrap();
    let fixtures = Path::new("tests/fixtures");
    let mut refused = 0;
    for (seed, name) in
        (0..).zip(["v1-snappy", "v2-zstd-index", "v2-none-delta", "v1-lz4-fallback", "duckdb"])
    {
        let intact = std::fs::read(fixtures.join(format!("{name}.parquet"))).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let path = directory.path().join(format!("{name}.parquet"));
        std::fs::write(&path, &intact).unwrap();
        assert_eq!(read_by_both(&path).unwrap(), 1400);
        for _ in 0..150 {
            let mut bytes = intact.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
            if random.random_bool(0.1) {
                bytes.truncate(random.random_range(0..bytes.len()));
            }
            std::fs::write(&path, &bytes).unwrap();
            if let Err(error) = read_by_both(&path) {
                assert!(
                    error.to_string().contains(name)
                        || matches!(error, ColumnsError::Arrow { .. } | ColumnsError::UnknownColumn { .. }),
                    "{error}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "most changes are noticed: {refused}");
}
