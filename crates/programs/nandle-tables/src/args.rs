//! The command line: global options and subcommands.

use clap::{Parser, Subcommand};
use nandle_terminal::args::Common;

use crate::commands::cubes::CubesArgs;
use crate::commands::scan::ScanArgs;
use crate::commands::table::TableArgs;

/// Tables of Parquet files that are laid out for a device and read by plan. `nandle table …` runs `nandle-tables table …`.
#[derive(Debug, Parser)]
#[command(name = "nandle-tables", bin_name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle table load flights/ 2008.csv 2009.csv.zst      a table for this disk\n  nandle scan flights/ --columns Origin,ArrDelay --in Origin=IAH,HOU --explain\n                                                        how long it will take, and why\n\nSizes are 4KiB, 64MiB, 4GiB (4K = 4KiB), times 250us, 3ms, 60s."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Table(TableArgs),
    Scan(Box<ScanArgs>),
    Cubes(Box<CubesArgs>),
    /// Print the definition of the commands as JSON, of which `nandle` makes completions and manual pages
    #[command(hide = true)]
    Definition,
}
