//! The `nandle` program: measures storage the way a database uses it, and says what the measurement means.

mod args;
mod commands;
mod error;
mod interrupt;
mod memory;
mod output;
mod progress;
mod result_file;
mod session;
mod sweep_csv;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Probe(probe) => commands::probe::run(&probe, args.common),
        Command::Sweep(sweep) => commands::sweep::run(&sweep, args.common),
        Command::Models(models) => commands::models::run(&models, args.common),
        Command::Report(report) => commands::report::run(&report, args.common),
        Command::Advise(advise) => commands::advise::run(&advise, args.common),
        Command::Compare(compare) => commands::compare::run(&compare, args.common),
        Command::Replay(replay) => commands::replay::run(&replay, args.common),
        Command::Trace(trace) => commands::trace::run(&trace, args.common),
        Command::Completions { shell } => commands::shell::completions(shell),
        Command::Man { command } => commands::shell::man_page(command.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error.to_string());
            error.exit_code().into()
        }
    }
}
