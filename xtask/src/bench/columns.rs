//! Compares `nandle cubes` with `DuckDB`, `ClickHouse`, Polars and `DataFusion`: cold, with equal
//! memory, with full and with limited disk reads.

pub(super) mod cubes;
mod data;
mod options;
mod programs;
mod record;
mod runs;

use std::fs;

use self::options::Options;
use self::record::Record;
use self::runs::Bench as Cubes;
use super::Bench;
use super::machine::machine;
use super::python::{Installed, threads};
use super::results::today;
use super::speed::Speed;
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "columns",
    about: "the 69 flight cubes, beside DuckDB, chDB, Polars and DataFusion (options: --rows 10M, --rounds 3, --cubes NAME,…, --peers NAME,…, --limited, --memory MiB, --in DIR, --keep)",
    run,
};

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    if !succeeds(&mut cargo(&["build", "--release", "--package", "nandle-tables"]))? {
        return Err("building nandle-tables failed".into());
    }
    let folder = options.folder.join(format!("bench-columns-{}", options.rows));
    fs::create_dir_all(&folder)?;
    let installed = Installed::below(&folder, &programs::PACKAGES)?;
    let measured = measure(&options, &folder, &installed);
    if !options.keeps {
        fs::remove_dir_all(folder)?;
    }
    output::say(&measured?);
    Ok(())
}

/// Runs all cubes, and rewrites the record after each, so that an interrupted benchmark leaves
/// results.
fn measure(options: &Options, folder: &std::path::Path, installed: &Installed) -> Outcome<String> {
    let stores = data::make(folder, options, installed)?;
    let mut record = Record {
        benchmark: BENCH.name,
        date: today()?,
        method: method(options),
        machine: machine(folder),
        rows: options.rows,
        stores,
        runs: Vec::new(),
    };
    let (benches, mut text) = (workspace_root().join("benches"), String::new());
    let speeds: &[Speed] =
        if options.is_limited_too { &[Speed::AsIs, Speed::Limited] } else { &[Speed::AsIs] };
    for speed in speeds {
        for cube in &options.cubes {
            output::say(&format!("{speed:?}: {}", cube.name));
            let bench = Cubes { folder, options, installed, facts: &record.stores };
            let runs = bench.rounds(cube, *speed)?;
            record.runs.extend(runs);
            text = record.write(&benches)?;
        }
    }
    Ok(text)
}

fn method(options: &Options) -> String {
    let Options { rows, rounds, memory_bytes, .. } = options;
    let limit = Speed::Limited.limit();
    format!(
        "{rows} made-up flights (seed 1), in the same order for everyone; {rounds} rounds of each cube, in which every program runs once, in turns. A run is a process: its time \
         goes from opening to the last row of the result as Arrow, with names and not codes. The store is out of the page cache before; a run that read less than nine tenths of what \
         the columns take there (for DuckDB's own format: the blocks that they lie in) doesn't count. Every program is told to use {} MiB and {} threads, in a memory cgroup of {} MiB, page cache included. Limited reads: {} MB/s and {} a \
         second, by cgroup. DuckDB's own format was loaded from the CSV file; DuckDB's Parquet is written from it with zstd, and Polars and DataFusion read that; chDB has a MergeTree without a key, and reads past the page \
         cache. Loads have {} MiB of the same group.",
        memory_bytes >> 20,
        threads(),
        data::GROUP_BYTES >> 20,
        limit.bytes_per_s / 1_000_000,
        limit.reads_per_s,
        512,
    )
}
