//! The command line: global options and subcommands.

use clap::{Parser, Subcommand};
use nandle_terminal::args::Common;

use crate::commands::cubes::CubesArgs;
use crate::commands::scan::ScanArgs;
use crate::commands::table::TableArgs;

/// Create, read and check Parquet tables laid out for a device
///
/// `nandle table …` runs `nandle-tables table …`, and likewise `scan` and `cubes`.
#[derive(Debug, Parser)]
#[command(name = "nandle-tables", bin_name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle table load flights/ 2008.csv 2009.csv.zst      create a table laid out for this disk\n  nandle scan flights/ --columns Origin,ArrDelay --in Origin=IAH,HOU --explain\n                                                        predict the time and show the plan\n\nSizes: 4KiB, 64MiB, 4GiB (4K = 4KiB). Times: 250us, 3ms, 60s."
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
    /// Print the commands as JSON, for the completions and manual pages of `nandle`
    #[command(hide = true)]
    Definition,
}
