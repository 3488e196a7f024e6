//! Power cuts before every operation of a load, a replacement, a compaction and a projection: the
//! old or the new snapshot remains, and the next load works.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test's way to fail"
)]

mod support;

use std::sync::Arc;

use nandle_columns::{ColumnsError, Files, Layout, Table, TableOptions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::model_files::ModelFiles;
use support::{batches, everything, flights, schema};

/// Images per cut.
const SEEDS: u64 = 12;

fn rows(files: &ModelFiles) -> Vec<String> {
    let snapshot = Table::open_in(Arc::new(files.clone())).unwrap().snapshot().unwrap();
    batches(&snapshot, &everything(&snapshot))
}

fn load(table: &Table) -> Result<(), ColumnsError> {
    let mut writer = table.load()?;
    writer.write(&flights(11, 300, 3))?;
    writer.commit().map(drop)
}

fn replace(table: &Table) -> Result<(), ColumnsError> {
    let mut writer = table.replace(&["month"])?;
    writer.write(&flights(12, 200, 1))?;
    writer.commit().map(drop)
}

fn compact(table: &Table) -> Result<(), ColumnsError> {
    table.compact(1 << 20).map(drop)
}

fn project(table: &Table) -> Result<(), ColumnsError> {
    table.project(&["origin", "delay"], 1 << 20).map(drop)
}

fn table_of_two_runs() -> ModelFiles {
    let files = ModelFiles::default();
    let layout = Layout { file_rows: 250, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(schema(), 3) };
    let table = Table::create_in(Arc::new(files.clone()), &options).unwrap();
    for month in [1_u8, 2] {
        let mut writer = table.load().unwrap();
        writer.write(&flights(u64::from(month), 200, month.cast_signed())).unwrap();
        writer.commit().unwrap();
    }
    files
}

fn cut_everywhere(change: fn(&Table) -> Result<(), ColumnsError>) {
    let start = table_of_two_runs();
    let old = rows(&start);
    let whole = start.fork();
    whole.cut_before(u64::MAX);
    change(&Table::open_in(Arc::new(whole.clone())).unwrap()).unwrap();
    let (new, operations) = (rows(&whole), whole.operations());
    let (mut old_seen, mut new_seen) = (0, 0);
    for cut in 0..=operations {
        let files = start.fork();
        files.cut_before(cut);
        let done = change(&Table::open_in(Arc::new(files.clone())).unwrap());
        // After the switch only removals follow, whose failure isn't an error.
        assert!(done.is_ok() || cut < operations, "cut before operation {cut}");
        for seed in 0..SEEDS {
            let image = files.after_power_cut(cut << 8 | seed);
            let got = rows(&image);
            assert!(
                got == old || got == new,
                "cut before operation {cut} of {operations}, seed {seed}: {} rows",
                got.len()
            );
            assert!(done.is_err() || got == new, "what was acknowledged is durable; seed {seed}");
            let table = Table::open_in(Arc::new(image.clone())).unwrap();
            assert!(table.verify().unwrap().is_empty());
            if got == old {
                old_seen += 1;
            } else {
                new_seen += 1;
            }
            load(&table).unwrap();
            assert_eq!(rows(&image).len(), got.len() + 300);
            let data = image.list("data").unwrap().len();
            let named: usize = table.manifest().unwrap().files().count() * 2;
            assert_eq!(data, named, "nothing is left over");
        }
    }
    assert!(
        new != old && old_seen > 0 && new_seen > 0,
        "both snapshots were seen: {old_seen} and {new_seen}"
    );
}

#[test]
fn a_load_happens_or_not() {
    cut_everywhere(load);
}

#[test]
fn a_replacement_happens_or_not() {
    cut_everywhere(replace);
}

#[test]
fn a_compaction_loses_nothing() {
    let start = table_of_two_runs();
    let rows_before = rows(&start);
    let whole = start.fork();
    whole.cut_before(u64::MAX);
    compact(&Table::open_in(Arc::new(whole.clone())).unwrap()).unwrap();
    for cut in 0..=whole.operations() {
        let files = start.fork();
        files.cut_before(cut);
        let done = compact(&Table::open_in(Arc::new(files.clone())).unwrap());
        assert!(done.is_ok() || cut < whole.operations());
        for seed in 0..SEEDS {
            let image = files.after_power_cut(cut << 8 | seed);
            assert_eq!(rows(&image), rows_before, "cut before operation {cut}, seed {seed}");
        }
    }
}

#[test]
fn a_projection_is_there_or_not() {
    let start = table_of_two_runs();
    let rows_before = rows(&start);
    let whole = start.fork();
    whole.cut_before(u64::MAX);
    project(&Table::open_in(Arc::new(whole.clone())).unwrap()).unwrap();
    let mut seen = [0, 0];
    for cut in 0..=whole.operations() {
        let files = start.fork();
        files.cut_before(cut);
        let done = project(&Table::open_in(Arc::new(files.clone())).unwrap());
        assert!(done.is_ok() || cut < whole.operations(), "cut before operation {cut}");
        for seed in 0..SEEDS {
            let image = files.after_power_cut(cut << 8 | seed);
            assert_eq!(rows(&image), rows_before, "cut before operation {cut}, seed {seed}");
            let table = Table::open_in(Arc::new(image.clone())).unwrap();
            assert!(table.verify().unwrap().is_empty());
            let snapshot = table.snapshot().unwrap();
            let projections = &snapshot.manifest().unwrap().projections;
            assert!(done.is_err() || projections.len() == 1, "what was acknowledged is durable; seed {seed}");
            for projection in projections {
                let projected = snapshot.projection(projection).unwrap();
                assert_eq!(batches(&projected, &everything(&projected)).len(), rows_before.len());
            }
            seen[projections.len()] += 1;
            drop(snapshot);
            load(&table).unwrap();
            assert!(
                image.list("projections").unwrap().is_empty(),
                "the load drops it, and nothing is left over"
            );
        }
    }
    assert!(seen.iter().all(|seen| *seen > 0), "both snapshots were seen: {seen:?}");
}

/// Consecutive changes of all kinds, each interrupted; the next starts from the remains. Rows are
/// compared sorted, since compaction and replacement move them.
#[test]
fn cuts_may_follow_one_another() {
    let changes = [load, replace, compact, project];
    let sorted = |files: &ModelFiles| {
        let mut rows = rows(files);
        rows.sort_unstable();
        rows
    };
    let (mut cuts, mut done) = (0, 0);
    for seed in 0..30 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut files = table_of_two_runs();
        let mut now = sorted(&files);
        for step in 0..8 {
            let change = changes[random.random_range(0..changes.len())];
            let whole = files.fork();
            whole.cut_before(u64::MAX);
            change(&Table::open_in(Arc::new(whole.clone())).unwrap()).unwrap();
            let next = sorted(&whole);
            let cut = random.random_range(0..=whole.operations());
            files.cut_before(cut);
            let is_done = change(&Table::open_in(Arc::new(files.clone())).unwrap()).is_ok();
            let image = files.after_power_cut(seed << 8 | step);
            let got = sorted(&image);
            assert!(got == now || got == next, "seed {seed}, step {step}: neither snapshot");
            assert!(!is_done || got == next, "seed {seed}, step {step}: what was acknowledged is durable");
            let table = Table::open_in(Arc::new(image.clone())).unwrap();
            assert!(table.verify().unwrap().is_empty(), "seed {seed}, step {step}");
            (files, now) = (image, got);
            cuts += usize::from(!is_done);
            done += usize::from(is_done);
        }
        load(&Table::open_in(Arc::new(files.clone())).unwrap()).unwrap();
        assert_eq!(rows(&files).len(), now.len() + 300);
    }
    assert!(cuts > 100 && done > 0, "{cuts} cuts, {done} done");
}

/// Checks that the model loses unsynced data.
#[test]
fn the_model_forgets() {
    let files = ModelFiles::default();
    let mut file = files.create("a").unwrap();
    std::io::Write::write_all(&mut file, &[7; 5000]).unwrap();
    let names = |files: &ModelFiles| {
        (0..20).map(|seed| files.after_power_cut(seed).list("").unwrap().len()).sum::<usize>()
    };
    assert!((1..20).contains(&names(&files)));
    files.sync_dir("").unwrap();
    assert_eq!(names(&files), 20);
    let intact = |files: &ModelFiles| {
        let read = |seed| {
            let file = files.after_power_cut(seed).open("a").unwrap();
            let mut bytes = vec![0; 5000];
            file.read_exact_at(0, &mut bytes).is_ok() && bytes == [7; 5000]
        };
        (0..20).filter(|seed| read(*seed)).count()
    };
    assert!((1..20).contains(&intact(&files)));
    file.sync().unwrap();
    assert_eq!(intact(&files), 20);
}
