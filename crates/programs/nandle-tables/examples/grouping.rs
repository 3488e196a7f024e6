//! Measures the benefit of storing each column in pieces alongside those of the other columns
//! (groups) when rows arrive in runs. One table appends 1 to 64 runs as row groups. The other keeps
//! every column wholly sequential, and is rewritten for each run. Reports bytes written per byte of
//! rows, and the time of a scan of three columns on modelled drives.
//!
//! `cargo run --release -p nandle-tables --example grouping -- [ROWS]` prints a JSON object for
//! each table and drive.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use nandle_columns::{FileEntry, Layout, ScanPlan, ScanSpec, Table, TableOptions};
use nandle_flights::Generator;
use nandle_predict::{CostsSource, Player, PlayerOptions};
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_reads::{FileId, PlanOptions, Want};
use nandle_session::{Access, Cancel, Unobserved};
use serde_json::json;

const RUNS: [u64; 4] = [1, 4, 16, 64];
const TARGETS: [&str; 2] = ["model:crucial-m4-256", "model:wd2003fyys"];
/// Columns of the table.
const COLUMNS: [&str; 8] =
    ["Month", "Airline", "Origin", "Dest", "DepDelay", "ArrDelay", "Distance", "AirTime"];
/// Columns of the scan.
const SCANNED: [&str; 3] = ["Origin", "ArrDelay", "Distance"];
const MEMORY_BYTES: u64 = 256 << 20;

/// A loaded table and its costs.
struct Filled {
    is_grouped: bool,
    runs: u64,
    row_groups: usize,
    written_bytes: u64,
    held_bytes: u64,
    files: Vec<RecordedFile>,
    plan: ScanPlan,
}

fn main() {
    let rows = std::env::args().nth(1).map_or(4_000_000, |text| text.parse().unwrap());
    let batches = made_up(rows);
    let folder = tempfile::tempdir().unwrap();
    let mut tables = Vec::new();
    for is_grouped in [true, false] {
        for runs in RUNS {
            let directory = folder.path().join(format!("{is_grouped}-{runs}"));
            tables.push(fill(&directory, &batches, rows, runs, is_grouped));
        }
    }
    let recording = recording(&tables);
    for target in TARGETS {
        let options = PlayerOptions {
            access: Access::default(),
            costs: CostsSource::Probe(None),
            made_at: SystemTime::now(),
            cancel: Cancel::default(),
        };
        let target_spec = target.parse().unwrap();
        let mut player = Player::open(&target_spec, &recording, &options, &mut Unobserved).unwrap();
        for (table, query) in tables.iter().zip(&recording.queries) {
            let took = player.play(query, PlanOptions::new(MEMORY_BYTES / 4), 1.0).unwrap();
            let line = json!({
                "target": target, "is_grouped": table.is_grouped, "runs": table.runs, "rows": rows,
                "row_groups": table.row_groups, "held_bytes": table.held_bytes, "written_bytes": table.written_bytes,
                "seconds": took.time_ns as f64 / 1e9, "requests": took.requests,
                "read_bytes": took.read_bytes, "wanted_bytes": took.wanted_bytes,
            });
            println!("{line}");
        }
    }
}

/// Generated rows of the table's columns.
fn made_up(rows: u64) -> Vec<RecordBatch> {
    let flights = Generator::new(rows, 1).unwrap();
    let chunks = (0..flights.chunks()).map(|number| flights.chunk(number).unwrap());
    let places = |batch: &RecordBatch| COLUMNS.map(|column| batch.schema().index_of(column).unwrap());
    chunks.map(|batch| batch.project(&places(&batch)).unwrap()).collect()
}

/// Loads the runs in turn. The table of sequential columns is merged into one row group after each.
fn fill(directory: &Path, batches: &[RecordBatch], rows: u64, runs: u64, is_grouped: bool) -> Filled {
    let mut options = TableOptions::new(batches.first().unwrap().schema(), runs);
    if !is_grouped {
        options.layout = Layout { row_group_rows: rows, row_group_bytes: u64::MAX, ..options.layout };
    }
    let table = Table::create(directory, &options).unwrap();
    let mut written = BTreeMap::new();
    for run in 0..runs {
        let mut writer = table.load().unwrap();
        for batch in of_run(batches, rows * run / runs, rows * (run + 1) / runs) {
            writer.write(&batch).unwrap();
        }
        writer.commit().unwrap();
        if !is_grouped && run > 0 {
            table.compact(MEMORY_BYTES).unwrap();
        }
        // Excludes writing a run before it is merged: a store of sequential columns wouldn't write
        // it.
        let bytes = |file: &FileEntry| (file.path.clone(), file.bytes + file.sums.bytes);
        written.extend(table.manifest().unwrap().files().map(bytes));
    }
    let (manifest, snapshot) = (table.manifest().unwrap(), table.snapshot().unwrap());
    let plan = snapshot.scan(&ScanSpec::of(SCANNED)).unwrap();
    let files = plan.files().iter().map(|file| {
        let held = manifest.files().find(|entry| entry.path.ends_with(file.name())).unwrap();
        let groups = nandle_reads::Groups::Unknown;
        RecordedFile { name: Some(file.name().to_owned()), length_bytes: held.bytes, groups }
    });
    Filled {
        is_grouped,
        runs,
        row_groups: plan.groups(),
        written_bytes: written.values().sum(),
        held_bytes: manifest.files().map(|file| file.bytes + file.sums.bytes).sum(),
        files: files.collect(),
        plan,
    }
}

/// Rows from `from` up to `to`.
fn of_run(batches: &[RecordBatch], from: u64, to: u64) -> Vec<RecordBatch> {
    let mut began = 0;
    let mut all = Vec::new();
    for batch in batches {
        let ends = began + batch.num_rows() as u64;
        let (first, last) = (from.clamp(began, ends), to.clamp(began, ends));
        let place = |row: u64| usize::try_from(row - began).unwrap();
        all.push(batch.slice(place(first), place(last) - place(first)));
        began = ends;
    }
    all.retain(|batch| batch.num_rows() > 0);
    all
}

/// Recording of a scan of each table, with its files one after the other. It has no computing: only
/// reads differ.
fn recording(tables: &[Filled]) -> Recording {
    let (mut files, mut queries) = (Vec::new(), Vec::new());
    for table in tables {
        let first = u32::try_from(files.len()).unwrap();
        files.extend(table.files.iter().cloned());
        let of_all = |want: &Want| Want { file: FileId(want.file.0 + first), ..*want };
        queries.push(RecordedQuery {
            wants: table.plan.wants().iter().map(of_all).collect(),
            cpu_after_ns: vec![0; table.plan.steps()],
            totals: QueryTotals::default(),
            ..RecordedQuery::default()
        });
    }
    Recording { files, queries }
}
