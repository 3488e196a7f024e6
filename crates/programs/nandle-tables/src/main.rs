//! The `nandle-tables` program: provides `nandle`'s commands `table`, `scan` and `cubes`. It is
//! separate because of the size of Parquet and Arrow.

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

/// Decoding and counting free buffers of megabytes as often as they allocate them. The system's
/// allocator returns those to the kernel, which clears them at each allocation; this one retains
/// them for a while.
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

/// Silences panics of the Parquet library on hostile files, which become errors that name the file.
/// Other panics are printed.
fn quiet_decoders() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !nandle_columns::panic_is_caught() {
            usual(info);
        }
    }));
}
