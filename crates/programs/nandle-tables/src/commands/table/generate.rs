//! `nandle table generate`.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use nandle_columns::{Clustering, ColumnsError, Layout, Table, TableOptions};
use nandle_flights::{CsvWriter, Generator, flight_schema};
use nandle_session::{Cancel, Observer, Progress};
use nandle_terminal::args::{Common, count};
use nandle_terminal::interrupt::{cancel_on_signals, remove_when_interrupted};
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::thousands;
use serde::Serialize;
use tempfile::TempDir;

use super::create::{Folders, NewTable, new_identity, without_new_table};
use super::load::clustering;
use crate::costs::ProfileArgs;
use crate::error::CliError;
use crate::input::of_table;

/// Generate synthetic flights
///
/// The flights cover 140 months, 24 carriers and about 340 airports. Their distributions are
/// learned from real flights.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table generate made-up/ --rows 5M --seed 1\n  nandle table generate --rows 1M --csv files/ --parquet files/"
)]
pub(super) struct GenerateArgs {
    /// Directory of the new table; optional with --csv or --parquet
    table: Option<PathBuf>,
    /// Number of flights, such as 200k or 5M
    #[arg(long, value_name = "N", value_parser = count)]
    rows: u64,
    /// Seed; the same --rows and seed give the same flights
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write a CSV file to this directory, in the publisher's format
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// Write a Parquet file to this directory
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Order of the table's rows: none, sort:COLUMN,… or cells:COLUMN,…
    #[arg(long, value_name = "ORDER", value_parser = clustering, default_value = "none")]
    cluster: Clustering,
    #[command(flatten)]
    profile: ProfileArgs,
}

#[derive(Serialize)]
struct Generated {
    schema_version: u32,
    rows: u64,
    seed: u64,
    table: Option<String>,
    csv: Option<String>,
    parquet: Option<String>,
}

pub(super) fn run(args: &GenerateArgs, common: Common) -> Result<(), CliError> {
    if args.table.is_none() && args.csv.is_none() && args.parquet.is_none() {
        return Err(CliError::usage(
            "name a table's directory, or where files go (--csv DIR, --parquet DIR)",
        ));
    }
    let cancel = cancel_on_signals()?;
    let mut bar = Bar::new(!common.no_progress);
    let generator =
        Generator::new(args.rows, args.seed).map_err(|error| CliError::failed(error.to_string()))?;
    if let Some(directory) = &args.table {
        if !Table::can_be_made(directory).map_err(|error| of_table(directory, error))? {
            return Err(of_table(directory, ColumnsError::TableExists));
        }
        let before = Folders::of(directory);
        let new = NewTable {
            directory,
            schema: flight_schema(),
            clustering: args.cluster.clone(),
            profile: &args.profile,
        };
        let table = new.create(&cancel, &mut bar)?;
        bar.begin_stage();
        fill(directory, &table, &generator, &cancel, &mut bar)
            .map_err(|error| without_new_table(directory, before, error))?;
    }
    let name = format!("flights-{}-{}", args.rows, args.seed);
    let csv = args.csv.as_ref().map(|directory| {
        let path = prepared(directory, &format!("{name}.csv"))?;
        write_csv(&path, &generator, &cancel, &mut bar).map(|()| path)
    });
    let csv = csv.transpose()?;
    let parquet = args.parquet.as_ref().map(|directory| {
        let path = prepared(directory, &format!("{name}.parquet"))?;
        write_parquet(&path, &generator, &cancel, &mut bar).map(|()| path)
    });
    let parquet = parquet.transpose()?;
    bar.finish();
    let done = Generated {
        schema_version: 1,
        rows: args.rows,
        seed: args.seed,
        table: args.table.as_deref().map(shown),
        csv: csv.as_deref().map(shown),
        parquet: parquet.as_deref().map(shown),
    };
    if common.json {
        return Ok(output::json(&done)?);
    }
    let places = [&done.table, &done.csv, &done.parquet].into_iter().flatten();
    let places: Vec<&str> = places.map(String::as_str).collect();
    Ok(output::result(&format!(
        "{} flights (seed {}): {}\n",
        thousands(args.rows as f64),
        args.seed,
        places.join(", ")
    ))?)
}

/// Path as JSON text, whatever its bytes.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn prepared(directory: &Path, name: &str) -> Result<PathBuf, CliError> {
    std::fs::create_dir_all(directory).map_err(|error| {
        CliError::failed(format!("making the directory {}: {error}", directory.display()))
    })?;
    let path = directory.join(name);
    if path.exists() {
        return Err(CliError::usage(format!(
            "{} is there already; remove it, or name another directory",
            path.display()
        )));
    }
    Ok(path)
}

/// Generates the flights in chunks until Ctrl-C.
fn each_chunk(
    generator: &Generator,
    doing: &str,
    cancel: &Cancel,
    bar: &mut Bar,
    mut take: impl FnMut(&arrow_array::RecordBatch) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for number in 0..generator.chunks() {
        if cancel.is_cancelled() {
            return Err(CliError::interrupted(format!("interrupted while {doing}; no row of it is kept")));
        }
        let chunk = generator.chunk(number).map_err(|error| CliError::failed(error.to_string()))?;
        take(&chunk)?;
        bar.progress(doing, (number + 1) as f64 / generator.chunks() as f64);
    }
    Ok(())
}

fn fill(
    directory: &Path,
    table: &Table,
    generator: &Generator,
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<(), CliError> {
    let of = |error| of_table(directory, error);
    let mut writer = table.load().map_err(of)?;
    each_chunk(generator, "writing the table", cancel, bar, |chunk| writer.write(chunk).map_err(of))?;
    writer.commit().map_err(of)?;
    Ok(())
}

fn write_csv(path: &Path, generator: &Generator, cancel: &Cancel, bar: &mut Bar) -> Result<(), CliError> {
    let wrong = |error: csv::Error| CliError::failed(format!("writing {}: {error}", path.display()));
    let beside = beside(path).map_err(|error| wrong(error.into()))?;
    let whole = beside.path().join("flights.csv");
    let file = File::create_new(&whole).map_err(|error| wrong(error.into()))?;
    let mut writer = CsvWriter::new(file).map_err(wrong)?;
    each_chunk(generator, "writing CSV", cancel, bar, |chunk| writer.write(chunk).map_err(wrong))?;
    writer.finish().map_err(wrong)?;
    std::fs::rename(&whole, path).map_err(|error| wrong(error.into()))
}

/// Temporary directory next to `path`, so that no incomplete file keeps the name.
fn beside(path: &Path) -> std::io::Result<TempDir> {
    let directory = path.parent().unwrap_or(path);
    let beside = tempfile::Builder::new().prefix(".nandle-").tempdir_in(directory)?;
    remove_when_interrupted([beside.path()].into_iter());
    Ok(beside)
}

/// Writes a table of one file, and moves that file to `path`.
fn write_parquet(path: &Path, generator: &Generator, cancel: &Cancel, bar: &mut Bar) -> Result<(), CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("writing {}: {error}", path.display()));
    let beside = beside(path).map_err(wrong)?;
    let layout = Layout { file_rows: u64::MAX, ..Layout::default() };
    let options = TableOptions { layout, ..TableOptions::new(flight_schema(), new_identity()) };
    let table = Table::create(beside.path(), &options)?;
    fill(beside.path(), &table, generator, cancel, bar)?;
    let snapshot = table.snapshot()?;
    for file in snapshot.files() {
        std::fs::rename(beside.path().join(file.name()), path).map_err(wrong)?;
    }
    Ok(())
}
