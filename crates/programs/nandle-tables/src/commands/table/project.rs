//! `nandle table project`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use nandle_columns::{Manifest, Projection};
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_units::format_bytes;
use serde::Serialize;

use super::check::sort_memory;
use crate::error::CliError;
use crate::input::{of_table, tell_of_left};
use crate::watch::{Moves, WatchedTable};

/// Create a projection: a sorted copy of some columns
///
/// A scan that needs no other columns uses the projection if it is predicted to be faster (`nandle
/// scan --path`). The next load or replacement drops the projection, because its rows are out of
/// date; create it again afterwards. Compaction keeps it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table project flights/ Origin,ArrDelay\n  nandle table project flights/ Month,Carrier --memory 64MiB\n  nandle scan flights/ --columns ArrDelay --in Origin=IAH --explain"
)]
pub(super) struct ProjectArgs {
    /// Directory of the table
    table: PathBuf,
    /// Columns, in sort order
    #[arg(value_name = "COLUMN,…", value_delimiter = ',', required = true, value_parser = NonEmptyStringValueParser::new())]
    columns: Vec<String>,
    /// Memory for sorting; excess rows go to temporary files in the table's directory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = sort_memory)]
    memory: u64,
}

#[derive(Serialize)]
struct Projected {
    schema_version: u32,
    table: String,
    snapshot: u64,
    projection: String,
    rows: u64,
    bytes: u64,
}

pub(super) fn run(args: &ProjectArgs, common: Common) -> Result<(), CliError> {
    let of = |error| of_table(&args.table, error);
    let (cancel, bar) = (cancel_on_signals()?, Bar::new(!common.no_progress));
    let watched = WatchedTable::open(&args.table, "sorting", Moves::Sorts, &cancel, bar)?;
    let columns: Vec<&str> = args.columns.iter().map(String::as_str).collect();
    let projected = watched.table.project(&columns, args.memory);
    watched.finish();
    let commit = projected.map_err(of)?;
    tell_of_left(&args.table, &commit);
    let (snapshot, manifest) = (commit.made.snapshot, commit.made);
    let made = manifest.projections.iter().find(|projection| projection.columns == args.columns);
    let Some((rows, bytes)) = made.map(|projection| (projection.rows(), projection.bytes())) else {
        unreachable!("the snapshot that a projection made has it")
    };
    let (name, table) = (args.columns.join(","), args.table.display().to_string());
    if common.json {
        return Ok(output::json(&Projected {
            schema_version: 1,
            table,
            snapshot,
            projection: name,
            rows,
            bytes,
        })?);
    }
    let (rows, bytes) = (thousands(rows as f64), format_bytes(bytes));
    Ok(output::result(&format!(
        "{table}: projection {name} has {rows} rows, {bytes} (snapshot {snapshot})\n"
    ))?)
}

/// Reports the projections that a load dropped.
pub(super) fn tell_of_dropped(before: &Manifest, after: &Manifest) {
    let gone: Vec<String> = before
        .projections
        .iter()
        .filter(|old| !after.projections.contains(old))
        .map(Projection::name)
        .collect();
    if !gone.is_empty() {
        let count = counted(gone.len() as u64, "projection");
        output::note(&format!(
            "{count} of the rows as they were {} gone ({}); `nandle table project` makes {} anew.",
            if gone.len() == 1 { "is" } else { "are" },
            gone.join("; "),
            if gone.len() == 1 { "it" } else { "them" }
        ));
    }
}
