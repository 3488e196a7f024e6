//! `kill -9` at many moments of loading, replacing and merging: afterwards the table is sound and
//! has either the old or the new rows, and the next writer removes the leftovers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, leftovers, sound_rows};

/// Moments, spread over slightly more than an undisturbed run.
const KILLS: u32 = 24;

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { _ = fs::copy(entry.path(), to).unwrap() }
    }
}

/// Runs a command on `t`, and kills it after a delay.
fn killed(place: &Place, line: &str, after: Duration) {
    let mut command = place.command(line);
    // Temporary files of a killed program are deleted with the place.
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

/// Afterwards there is no table, an empty one, or the complete one; rerunning the command completes
/// it.
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

/// Everything that can exist before `CURRENT` does.
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
    // Rows never count as leftovers.
    place.run(line).done();
    fs::remove_file(table.join("CURRENT")).unwrap();
    for line in
        [line, "table generate t --rows 10 --profile disk.json", "table adopt t files/flights-1500-4.parquet"]
    {
        place.run(line).refused(1, &["t: ", "CURRENT"]);
    }
    assert!(place.parquet_files("t").len() == 1);
}
