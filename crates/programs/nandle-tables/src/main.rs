//! The `nandle-tables` program: the commands `table`, `scan` and `cubes` of `nandle`, which runs it. It is a program of its own because it
//! brings Parquet and Arrow.

mod args;
mod commands;
mod common;
mod costs;
mod decode;
mod error;
mod input;
mod interrupt;
mod output;
mod progress;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Table(table) => commands::table::run(&table, args.common),
        Command::Cubes(cubes) => commands::cubes::run(&cubes, args.common),
        Command::Scan(scan) => commands::scan::run(&scan, args.common),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error.to_string());
            error.exit_code().into()
        }
    }
}
