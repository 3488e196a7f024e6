//! Path `btree`: loads the table's rows into a real SQLite database and records its leaves.

use std::collections::BTreeMap;

use nandle_columns::{BatchDecoder, ColumnsError, DirectBytes, ScanSpec};
use nandle_flights::{Btree, BtreeError, BtreeOptions, Column, CubeQuery, IndexKind};
use nandle_reads::recording::{RecordedFile, Recording};
use nandle_reads::{FileId, Groups};
use nandle_session::{Cancel, Observer};
use nandle_terminal::cpu;
use nandle_terminal::interrupt::remove_when_interrupted;
use nandle_units::format_bytes;
use tempfile::TempDir;

use super::{Cube, CubesArgs, Recorded, check};
use crate::error::CliError;
use crate::input::Input;

/// Columns of the cubes.
const COLUMNS: [Column; 8] = [
    Column::Airline,
    Column::Dest,
    Column::Month,
    Column::Origin,
    Column::Year,
    Column::Diverted,
    Column::Cancelled,
    Column::ArrDelay,
];

/// Temporary directory of the database.
fn temporary(args: &CubesArgs, input: &Input) -> Result<TempDir, CliError> {
    let parent = args.temporary.clone().unwrap_or_else(|| input.directory());
    let directory = tempfile::tempdir_in(&parent)
        .map_err(|error| CliError::failed(format!("{} (--temporary): {error}", parent.display())))?;
    remove_when_interrupted([directory.path()].into_iter());
    Ok(directory)
}

pub(super) fn run(
    args: &CubesArgs,
    input: &Input,
    queries: &[CubeQuery],
    index: IndexKind,
    page_bytes: u64,
    cancel: &Cancel,
    progress: &mut dyn Observer,
) -> Result<Recorded, CliError> {
    let word = match index {
        IndexKind::Built => "built",
        IndexKind::Grown => "grown",
    };
    let name = format!("btree {word}, pages of {}", format_bytes(page_bytes));
    let failed = |error: BtreeError| CliError::failed(format!("{name}: {error}"));
    let directory = temporary(args, input)?;
    let path = directory.path().join("flights.sqlite");
    let page_bytes = u32::try_from(page_bytes)
        .map_err(|_| CliError::usage("--page-size: a page of SQLite's has at most 64 KiB"))?;
    let options = BtreeOptions { page_bytes, index, pool_bytes: args.memory() };
    let mut btree = Btree::create(&path, queries, options).map_err(failed)?;
    let of = |error: ColumnsError| CliError::from(error).of(&input.name());
    let plan = input.snapshot.scan(&ScanSpec::of(COLUMNS.map(Column::name))).map_err(of)?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let (mut rows, all_rows) = (0_u64, input.snapshot.rows().max(1));
    while let Some(batch) = decoder.next(&mut bytes).map_err(of)? {
        check(cancel)?;
        btree.add(&batch).map_err(failed)?;
        rows += batch.num_rows() as u64;
        progress.progress(&name, rows as f64 / all_rows as f64);
    }
    btree.finish().map_err(failed)?;
    let clock = cpu::of_thread;
    let (mut cubes, mut recorded) = (Vec::new(), Vec::new());
    for query in queries {
        check(cancel)?;
        let needed = btree.recorded(*query, FileId(0), clock).map_err(failed)?;
        cubes.push(Cube {
            name: query.to_string(),
            query: *query,
            partners: query.partners(),
            result_rows: needed.totals.result_rows,
            wanted_bytes: needed.bytes_wanted(),
            spilled_bytes: 0,
            cpu_s: needed.cpu_ns() as f64 * 1e-9,
            share_of_jumps: btree.leaves(*query).map_err(failed)?.share_of_jumps(),
            actual: None,
            targets: BTreeMap::new(),
        });
        recorded.push(needed);
    }
    drop(btree);
    let length_bytes = std::fs::metadata(&path)
        .map_err(|error| CliError::failed(format!("{}: {error}", path.display())))?
        .len();
    let file = RecordedFile { name: Some(name.clone()), length_bytes, groups: Groups::Unknown };
    Ok(Recorded { name, cubes, recording: Recording { files: vec![file], queries: recorded } })
}
