//! `nandle table`.

mod adopt;
mod check;
mod create;
mod describe;
mod economics;
mod generate;
mod load;
mod page_cost;
mod project;
mod rejects;
mod source;

use clap::{Args, Subcommand};
use nandle_terminal::args::Common;

use crate::error::CliError;

/// Create, fill, describe and check tables of Parquet files
///
/// A table is a directory of Parquet files with snapshots, laid out for the device that stores it.
/// Other tools can read its files data/*.parquet.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table load flights/ 2007.csv 2008.csv.zst --rejects bad.csv\n  nandle table load flights/ 2008-04.csv --replace Month\n  nandle table generate made-up/ --rows 5000000 --seed 1\n  nandle table describe flights/"
)]
pub(crate) struct TableArgs {
    #[command(subcommand)]
    command: TableCommand,
}

#[derive(Debug, Subcommand)]
enum TableCommand {
    Load(Box<load::LoadArgs>),
    Generate(Box<generate::GenerateArgs>),
    Adopt(adopt::AdoptArgs),
    Describe(describe::DescribeArgs),
    Verify(check::VerifyArgs),
    Compact(check::CompactArgs),
    Project(project::ProjectArgs),
}

pub(crate) fn run(args: &TableArgs, common: Common) -> Result<(), CliError> {
    match &args.command {
        TableCommand::Load(args) => load::run(args, common),
        TableCommand::Generate(args) => generate::run(args, common),
        TableCommand::Adopt(args) => adopt::run(args, common),
        TableCommand::Describe(args) => describe::run(args, common),
        TableCommand::Verify(args) => check::verify(args, common),
        TableCommand::Compact(args) => check::compact(args, common),
        TableCommand::Project(args) => project::run(args, common),
    }
}
