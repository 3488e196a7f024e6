//! The `nandle-tables` program: the commands `table`, `scan` and `cubes` of `nandle`, which runs it. It is a program of its own because it
//! brings Parquet and Arrow.

mod args;
mod commands;
mod costs;
mod decode;
mod error;
mod input;
mod result_file;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use nandle_terminal::{CommandDefinition, output};

/// Decoding and counting free buffers of megabytes as often as they allocate them. The system's allocator gives those back to the kernel, which
/// clears them anew at each allocation; this one keeps them for a while.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quiet_decoders();
    let args = Args::parse();
    let result = match args.command {
        Command::Table(table) => commands::table::run(&table, args.common),
        Command::Cubes(cubes) => commands::cubes::run(&cubes, args.common),
        Command::Scan(scan) => commands::scan::run(&scan, args.common),
        Command::Definition => output::json(&CommandDefinition::of(&Args::command())).map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(env!("CARGO_PKG_NAME"), &error.to_string());
            error.exit_code().into()
        }
    }
}

/// A panic of the Parquet library over a hostile file becomes an error that names the file; its own words only confuse. All others are told.
fn quiet_decoders() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !nandle_columns::panic_is_caught() {
            usual(info);
        }
    }));
}
