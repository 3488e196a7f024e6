//! `nandle table load`.

use std::fmt::Write as _;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use nandle_columns::{Clustering, Table, TableWriter};
use nandle_flights::{CsvOptions, LoadReport};
use nandle_session::{Cancel, Observer, Progress};
use nandle_terminal::args::{Common, bytes_of_at_least, names, share};
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_units::format_bytes;
use serde::Serialize;

use super::create::{Folders, NewTable, without_new_table};
use super::project::tell_of_dropped;
use super::rejects::RejectFile;
use super::source::Files;
use crate::costs::ProfileArgs;
use crate::error::CliError;
use crate::input::{of_table, open_table, tell_of_left};
use crate::watch::WatchedTable;

/// With less memory neither sorted rows nor chunks of CSV have room.
const MEMORY_BYTES_MIN: u64 = 64 << 20;
/// Divisor of memory for rows: a quarter each for gathering, sorting and writing.
const ROWS_PART: u64 = 4;
/// Divisor of memory for a chunk of CSV: parsing takes about twenty times its bytes.
const CHUNK_PART: u64 = 128;
const CHUNK_BYTES_MAX: u64 = 4 << 20;

/// Append rows from files to a table, or replace rows
///
/// CSV files hold flights in the publisher's format (both generations), optionally compressed with
/// zstd. Parquet and Arrow IPC files may hold any flat columns. A load becomes visible once all of
/// it is durable.
///
/// A new table is laid out by the profile of its device, which it stores. Without --profile, the
/// directory is probed for 10 s.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table load flights/ 2007.csv 2008.csv.zst --rejects bad.csv\n  nandle table load flights/ 2008-04.csv --replace Month\n  nandle table load sales/ sales-*.parquet --cluster sort:day,shop --profile disk.json"
)]
pub(super) struct LoadArgs {
    /// Directory of the table; created if it doesn't exist
    table: PathBuf,
    /// CSV files of flights, Parquet files or Arrow IPC files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write rejected rows to this CSV file, with source file, line and reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Maximum share of rejected rows; above it the load fails and the table is unchanged
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    bad_max: f64,
    /// Row order of a new table: none, sort:COLUMN,… or cells:COLUMN,…
    ///
    /// With cells, rows with equal values in these columns are stored together, and the groups in
    /// Z-order.
    #[arg(long, value_name = "ORDER", value_parser = clustering)]
    cluster: Option<Clustering>,
    /// Replace rows with the same values in these columns
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    replace: Option<Vec<String>>,
    /// Memory for loading
    ///
    /// Below 512MiB, row groups may be smaller than the table's layout specifies.
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = memory)]
    memory: u64,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// Parses `sort:a,b`, `cells:a,b` or `none`.
pub(super) fn clustering(text: &str) -> Result<Clustering, String> {
    match text.split_once(':') {
        None if text == "none" => Ok(Clustering::None),
        Some(("sort", columns)) => different_names(columns).map(Clustering::Sort),
        Some(("cells", columns)) => different_names(columns).map(Clustering::Cells),
        _ => Err("expected sort:COLUMN,… or cells:COLUMN,… or none".to_owned()),
    }
}

fn different_names(text: &str) -> Result<Vec<String>, String> {
    let names = names(text)?;
    match names.iter().enumerate().find(|(place, name)| names.iter().take(*place).any(|other| other == *name))
    {
        Some((_, name)) => Err(format!("expected different columns, and `{name}` is named twice")),
        None => Ok(names),
    }
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "64MiB")
}

pub(super) fn interrupted() -> CliError {
    CliError::interrupted("interrupted; the table is as it was")
}

#[derive(Debug, Serialize)]
struct Loaded {
    schema_version: u32,
    table: String,
    snapshot: u64,
    rows: u64,
    /// Rows that were replaced.
    replaced_rows: u64,
    rejected_rows: u64,
    cancelled_derived_rows: u64,
    diverted_derived_rows: u64,
    tail_numbers_unreadable_rows: u64,
}

pub(super) fn run(args: &LoadArgs, common: Common) -> Result<(), CliError> {
    let files = Files::recognise(&args.files)?;
    let cancel = cancel_on_signals()?;
    let mut bar = Bar::new(!common.no_progress);
    let before = Folders::of(&args.table);
    let is_new = opened_or_made(args, &files, &cancel, &mut bar)?;
    // Replaced rows are searched in the whole table, and Ctrl-C ends that, too.
    let table = WatchedTable::without_progress(&args.table, &cancel);
    bar.begin_stage();
    let loaded = table.and_then(|table| load(args, &table, &files, &cancel, &mut bar));
    bar.finish();
    let loaded =
        loaded.map_err(|error| if is_new { without_new_table(&args.table, before, error) } else { error })?;
    if common.json { Ok(output::json(&loaded)?) } else { Ok(output::result(&text(&loaded))?) }
}

/// Returns true if the table was created.
fn opened_or_made(args: &LoadArgs, files: &Files, cancel: &Cancel, bar: &mut Bar) -> Result<bool, CliError> {
    let can_be_made = Table::can_be_made(&args.table).map_err(|error| of_table(&args.table, error))?;
    if !can_be_made {
        let table = open_table(&args.table)?;
        if args.profile.is_given() {
            output::note(&format!(
                "--profile and --probe-budget are for new tables; {} was laid out when it was made, and stays so.",
                args.table.display()
            ));
        }
        let is = table.manifest().map_err(|error| of_table(&args.table, error))?.clustering;
        if args.cluster.as_ref().is_some_and(|wanted| *wanted != is) {
            let place = args.table.display();
            return Err(CliError::usage(format!(
                "--cluster: the order of {place} was chosen when it was made ({}); leave the option out, or load into a new table",
                order(&is)
            )));
        }
        return Ok(false);
    }
    files.try_first_rows(csv_options(args))?;
    let new = NewTable {
        directory: &args.table,
        schema: files.schema(),
        clustering: args.cluster.clone().unwrap_or_default(),
        profile: &args.profile,
    };
    new.create(cancel, bar).map(|_| true)
}

pub(super) fn order(clustering: &Clustering) -> String {
    match clustering {
        Clustering::None => "as rows come".to_owned(),
        Clustering::Sort(columns) => format!("sort:{}", columns.join(",")),
        Clustering::Cells(columns) => format!("cells:{}", columns.join(",")),
    }
}

fn load(
    args: &LoadArgs,
    table: &Table,
    files: &Files,
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<Loaded, CliError> {
    let of = |error| of_table(&args.table, error);
    let writer = match &args.replace {
        None => table.load().map_err(of)?,
        Some(keys) => table.replace(&keys.iter().map(String::as_str).collect::<Vec<_>>()).map_err(of)?,
    };
    let mut writer = writer.with_row_groups_of(row_group_bytes(args, table)?);
    // After locking the table, so that a load that has to wait keeps the previous rejects.
    let mut rejects = RejectFile::create(args.rejects.as_deref())?;
    let doing = format!("loading {}", format_bytes(files.bytes()));
    let mut batches = 0_u64;
    let mut take = |batch: &RecordBatch| {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        batches += 1;
        bar.progress(&format!("{doing}, {} rows", thousands(writer.rows() as f64)), 0.0);
        writer.write(batch).map_err(of)
    };
    let read = files.each_batch(csv_options(args), &mut rejects, &mut take);
    // Rejects are written even if there were too many.
    rejects.finish()?;
    let report = read?.unwrap_or_default();
    finished(args, writer, report)
}

/// Memory for row groups being written. Warns if it is less than the layout requires, since scans
/// will find smaller groups.
fn row_group_bytes(args: &LoadArgs, table: &Table) -> Result<u64, CliError> {
    let layout = table.manifest().map_err(|error| of_table(&args.table, error))?.layout;
    let bytes = args.memory / ROWS_PART;
    if bytes < layout.row_group_bytes {
        output::note(&format!(
            "{}: row groups of this load end at {} in memory, and not at {} as the table's layout has it, because of --memory {}.",
            args.table.display(),
            format_bytes(bytes),
            format_bytes(layout.row_group_bytes),
            format_bytes(args.memory)
        ));
    }
    Ok(bytes)
}

fn csv_options(args: &LoadArgs) -> CsvOptions {
    let chunk_bytes = usize::try_from((args.memory / CHUNK_PART).min(CHUNK_BYTES_MAX)).unwrap_or(usize::MAX);
    CsvOptions { chunk_bytes, bad_max: args.bad_max, ..CsvOptions::default() }
}

fn finished(args: &LoadArgs, writer: TableWriter, report: LoadReport) -> Result<Loaded, CliError> {
    let rows = writer.rows();
    let commit = writer.commit().map_err(|error| of_table(&args.table, error))?;
    tell_of_left(&args.table, &commit);
    tell_of_dropped(&commit.replaced, &commit.made);
    Ok(Loaded {
        schema_version: 1,
        table: args.table.display().to_string(),
        snapshot: commit.made.snapshot,
        rows,
        replaced_rows: (commit.replaced.rows() + rows).saturating_sub(commit.made.rows()),
        rejected_rows: report.bad_rows,
        cancelled_derived_rows: report.cancelled_derived,
        diverted_derived_rows: report.diverted_derived,
        tail_numbers_unreadable_rows: report.tail_numbers_unreadable,
    })
}

fn text(loaded: &Loaded) -> String {
    let mut text = format!("{}: {} loaded", loaded.table, counted(loaded.rows, "row"));
    if loaded.replaced_rows > 0 {
        let _ = write!(text, " in the place of {}", counted(loaded.replaced_rows, "row"));
    }
    let _ = writeln!(text, " (snapshot {})", loaded.snapshot);
    for (rows, what) in [
        (loaded.rejected_rows, "kept aside as bad"),
        (
            loaded.cancelled_derived_rows,
            "without a word on being cancelled, which was derived from their times",
        ),
        (
            loaded.diverted_derived_rows,
            "without a word on being diverted, which was derived from their times",
        ),
        (loaded.tail_numbers_unreadable_rows, "whose tail number is no UTF-8 and was left out"),
    ] {
        if rows > 0 {
            let _ = writeln!(text, "{} {what}", counted(rows, "row"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back_as_they_print() {
        for text in ["sort:a,b", "cells:carrier,origin,year"] {
            assert_eq!(order(&clustering(text).unwrap()), text);
        }
        for wrong in ["", "sort", "sort:", "sort:a,,b", "by:a", "cells:Year,Year", "sort:a,b,a"] {
            assert!(clustering(wrong).is_err(), "{wrong}");
        }
    }
}
