//! `nandle table adopt`.

use std::path::PathBuf;

use clap::Args;
use nandle_columns::{AdoptOptions, Adoption, ColumnsError, Table};
use nandle_profile::read_profile;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use serde::Serialize;

use super::create::{Folders, kept, new_identity};
use crate::error::CliError;
use crate::input::{of_table, open_regular};
use crate::watch::WatchedDirectory;

/// Create a table from Parquet files without rewriting them
///
/// The files are hard-linked into the table's directory. Files on another file system are refused
/// unless --copy allows copying them. Checksums of all blocks are computed now and checked at each
/// read. Don't change an adopted file in place: reads and `nandle table verify` then report damage.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  nandle table adopt sales/ 2007.parquet 2008.parquet")]
pub(super) struct AdoptArgs {
    /// Directory of the new table
    table: PathBuf,
    /// Parquet files, in row order
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Copy files from another file system
    #[arg(long)]
    copy: bool,
    /// Profile of the files' device, stored in the table
    ///
    /// Without it, each scan needs a profile (--profile) or probes the device.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

#[derive(Serialize)]
struct Adopted {
    schema_version: u32,
    table: String,
    files: u64,
    rows: u64,
}

/// Creates the table and returns its number of rows. On failure nothing of it is left.
fn adopt(args: &AdoptArgs, options: &AdoptOptions, common: Common) -> Result<u64, CliError> {
    let (cancel, bar) = (cancel_on_signals()?, Bar::new(!common.no_progress));
    let bytes = args.files.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum();
    let watched = WatchedDirectory::new(&args.table, "making sums", bytes, &cancel, bar);
    let before = Folders::of(&args.table);
    let table = Table::adopt_in(watched.files(), &args.files, options);
    watched.finish();
    if table.is_err() && !args.table.join("CURRENT").exists() {
        before.remove_others();
    }
    let rows = table.and_then(|table| table.manifest()).map(|manifest| manifest.rows());
    rows.map_err(|error| match error {
        ColumnsError::Stopped => {
            CliError::interrupted("interrupted; no table was made").of(&args.table.display())
        }
        error => of_table(&args.table, error),
    })
}

pub(super) fn run(args: &AdoptArgs, common: Common) -> Result<(), CliError> {
    let adoption = if args.copy { Adoption::LinkOrCopy } else { Adoption::Link };
    let profile = args.profile.as_deref().map(|path| kept(&read_profile(path)?)).transpose()?;
    for path in &args.files {
        open_regular(path)?;
    }
    let options = AdoptOptions { profile, ..AdoptOptions::new(new_identity(), adoption) };
    let rows = adopt(args, &options, common)?;
    let files = args.files.len() as u64;
    let adopted = Adopted { schema_version: 1, table: args.table.display().to_string(), files, rows };
    if common.json {
        return Ok(output::json(&adopted)?);
    }
    let place = args.table.display();
    Ok(output::result(&format!(
        "{place}: {} rows of {} adopted\n",
        thousands(rows as f64),
        counted(files, "file")
    ))?)
}
