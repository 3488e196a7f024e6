//! `nandle table verify` and `nandle table compact`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::common::{Common, bytes_of_at_least};
use crate::error::CliError;
use crate::input::{of_table, open_table};
use crate::output;
use crate::words::{counted, thousands};

/// Read all of a table, and name everything that is damaged: file, row group and column
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  nandle table verify flights/")]
pub(super) struct VerifyArgs {
    /// The table's directory
    table: PathBuf,
}

/// Below this sorting has no room.
const SORT_MEMORY_BYTES_MIN: u64 = 1 << 20;

pub(super) fn sort_memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, SORT_MEMORY_BYTES_MIN, "1MiB")
}

/// Merge all runs of a table into one.
///
/// A table whose order is sort:… is then sorted as a whole. Projections stay.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table compact flights/\n  nandle table compact flights/ --memory 64MiB"
)]
pub(super) struct CompactArgs {
    /// The table's directory
    table: PathBuf,
    /// Memory for sorting; rows that don't fit wait in temporary files of the table's directory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = sort_memory)]
    memory: u64,
}

#[derive(Serialize)]
struct Verified {
    schema_version: u32,
    table: PathBuf,
    damage: Vec<String>,
}

/// Runs `verify`: damage is a failure.
pub(super) fn verify(args: &VerifyArgs, common: Common) -> Result<(), CliError> {
    let damage = open_table(&args.table)?.verify().map_err(|error| of_table(&args.table, error))?;
    let damage: Vec<String> = damage.iter().map(ToString::to_string).collect();
    let (count, place) = (damage.len() as u64, args.table.display());
    if common.json {
        output::json(&Verified { schema_version: 1, table: args.table.clone(), damage })?;
    } else if damage.is_empty() {
        output::result(&format!("{place}: sound\n"))?;
    } else {
        output::result(&(damage.join("\n") + "\n"))?;
    }
    match count {
        0 => Ok(()),
        _ => Err(CliError::failed(format!(
            "{place} is damaged in {}; load what they held anew, or restore the files from a copy",
            counted(count, "place")
        ))),
    }
}

#[derive(Serialize)]
struct Compacted {
    schema_version: u32,
    table: PathBuf,
    snapshot: u64,
    runs_before: u64,
    rows: u64,
}

/// Runs `compact`.
pub(super) fn compact(args: &CompactArgs, common: Common) -> Result<(), CliError> {
    let of = |error| of_table(&args.table, error);
    let table = open_table(&args.table)?;
    let before = table.manifest().map_err(of)?;
    let snapshot = table.compact(args.memory).map_err(of)?;
    let (runs_before, rows) = (before.runs.len() as u64, before.rows());
    if common.json {
        let table = args.table.clone();
        return output::json(&Compacted { schema_version: 1, table, snapshot, runs_before, rows });
    }
    let (place, rows) = (args.table.display(), thousands(rows as f64));
    let runs = counted(runs_before, "run");
    output::result(&format!("{place}: {rows} rows of {runs} are one (snapshot {snapshot})\n"))
}
