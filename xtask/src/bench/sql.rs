//! Compares `nandle sql` on TPC-H: planned reads, the engine's own readers in the same program, and
//! `DuckDB`, on the same Parquet files, with equal memory, cold and warm, with full and with
//! limited disk reads. Also measures the memory of the queries, and the 69 flight cubes in SQL.

mod cubes;
mod memories;
mod options;
mod programs;
mod queries;

use self::options::{Options, Part};
use super::Bench;
use super::data_folder::DataFolder;
use super::release;
use crate::{Outcome, output};

pub(super) const BENCH: Bench = Bench {
    name: "sql",
    about: "TPC-H by SQL: planned reads beside the engine's own and DuckDB (options: --scale N, --rounds N, --only QUERY,…, --speeds as-is,limited,warm, --tables, --in DIR, --kept DIR); with --memories 2GiB,… what they take, with --cubes [--rows 10M] the flight cubes",
    run,
};

/// Memory setting of each program, and limit of its group, page cache included.
const MEMORY_BYTES: u64 = 1 << 30;
const GROUP_BYTES: u64 = 2 << 30;

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    release::build()?;
    let data = DataFolder::open(options.kept.as_deref(), &options.folder.join("bench-sql"))?;
    let measured = match &options.part {
        Part::Queries(numbers) => queries::measure(&options, numbers, &data),
        Part::Memories(numbers, memories) => memories::measure(&options, numbers, memories, &data),
        Part::Cubes(cubes) => cubes::measure(&options, cubes, &data),
    };
    data.close()?;
    output::say(&measured?);
    Ok(())
}
