//! `kill -9` at many moments of loading, replacing and merging: what is there then are the rows before or those after, the table is
//! sound, and the next writer removes what was left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, leftovers, sound_rows};

/// Moments, spread over somewhat more than an undisturbed run takes.
const KILLS: u32 = 24;

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { _ = fs::copy(entry.path(), to).unwrap() }
    }
}

/// Runs a command on `t`, and kills it after some time.
fn killed(place: &Place, line: &str, after: Duration) {
    let mut command = place.command(line);
    // What is killed leaves its temporary files, which go with the place.
    command.env("TMPDIR", place.path("."));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

struct Begin {
    place: Place,
    base: PathBuf,
    table: PathBuf,
}

/// A table of two runs, and files for more.
fn begin() -> Begin {
    let place = Place::new();
    for seed in [3, 4] {
        place.run(&format!("table generate --rows 1500 --seed {seed} --parquet files")).done();
    }
    place.run("table load base files/flights-1500-3.parquet --profile disk.json").done();
    place.run("table load base files/flights-1500-4.parquet").done();
    let (base, table) = (place.path("base"), place.path("t"));
    Begin { place, base, table }
}

fn killed_everywhen(line: &str) {
    let Begin { place, base, table } = begin();
    let old = sound_rows(&base);
    copy(&base, &table);
    let began = Instant::now();
    place.run(line).done();
    let whole = began.elapsed();
    let new = sound_rows(&table);
    for kill in 0..KILLS {
        fs::remove_dir_all(&table).unwrap();
        copy(&base, &table);
        let after = whole * kill * 11 / (KILLS * 10);
        killed(&place, line, after);
        let rows = sound_rows(&table);
        assert!(rows == old || rows == new, "killed after {after:?} of {whole:?}: {} rows", rows.len());
        place.run("table load t files/flights-1500-3.parquet").done();
        assert_eq!(sound_rows(&table).len(), rows.len() + 1500);
        assert_eq!(leftovers(&table), [""; 0], "killed after {after:?} of {whole:?}");
    }
}

#[test]
fn a_load_is_killed() {
    killed_everywhen("table load t files/flights-1500-4.parquet");
}

#[test]
fn a_replacement_is_killed() {
    killed_everywhen("table load t files/flights-1500-4.parquet --replace Month");
}

#[test]
fn a_compaction_is_killed() {
    killed_everywhen("table compact t");
}

/// There is no table, one without rows, or the whole; the same command makes the whole of each.
#[test]
fn a_first_load_is_killed() {
    let Begin { place, table, .. } = begin();
    let line = "table load t files/flights-1500-4.parquet --profile disk.json";
    let began = Instant::now();
    place.run(line).done();
    let (whole, new) = (began.elapsed(), sound_rows(&table));
    for kill in 0..KILLS {
        fs::remove_dir_all(&table).unwrap();
        let after = whole * kill * 11 / (KILLS * 10);
        killed(&place, line, after);
        let is_loaded = table.join("CURRENT").exists() && {
            let rows = sound_rows(&table);
            assert!(rows.is_empty() || rows == new, "killed after {after:?} of {whole:?}");
            !rows.is_empty()
        };
        if is_loaded {
            continue;
        }
        place.run(line).done();
        assert!(sound_rows(&table) == new);
        assert_eq!(leftovers(&table), [""; 0], "killed after {after:?} of {whole:?}");
    }
}

/// All that can be there before `CURRENT` is.
#[test]
fn what_is_left_of_making_a_table_is_no_table() {
    let Begin { place, table, .. } = begin();
    let line = "table load t files/flights-1500-4.parquet --profile disk.json";
    let left = [
        "LOCK",
        "profile.json.partial",
        "profile.json",
        "manifest-1.json.partial",
        "manifest-1.json",
        "CURRENT.partial",
    ];
    for number in 0..=left.len() {
        fs::create_dir_all(table.join("data")).unwrap();
        left[..number].iter().for_each(|name| fs::write(table.join(name), "{").unwrap());
        place.run(line).done();
        assert_eq!((sound_rows(&table).len(), leftovers(&table).len()), (1500, 0));
        fs::remove_dir_all(&table).unwrap();
    }
    // Rows are never taken for something left over.
    place.run(line).done();
    fs::remove_file(table.join("CURRENT")).unwrap();
    for line in
        [line, "table generate t --rows 10 --profile disk.json", "table adopt t files/flights-1500-4.parquet"]
    {
        place.run(line).refused(1, &["t: ", "CURRENT"]);
    }
    assert!(place.parquet_files("t").len() == 1);
}
