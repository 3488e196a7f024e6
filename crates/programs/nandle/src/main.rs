//! The `nandle` program: measures storage the way a database uses it, and interprets the results.

mod args;
mod commands;
mod error;
mod result_file;
mod target;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use commands::elsewhere::{SQL, TABLES};
use error::CliError;
use nandle_terminal::interrupt::keep_file_size_limit_an_error;
use nandle_terminal::output;

fn main() -> ExitCode {
    if let Some(error) = commands::elsewhere::help() {
        return failed(&error);
    }
    let args = Args::parse();
    if let Err(error) = keep_file_size_limit_an_error() {
        return failed(&error.into());
    }
    let result = match args.command {
        Command::Probe(probe) => commands::probe::run(&probe, args.common),
        Command::Sweep(sweep) => commands::sweep::run(&sweep, args.common),
        Command::Models(models) => commands::models::run(&models, args.common),
        Command::Report(report) => commands::report::run(&report, args.common),
        Command::Advise(advise) => commands::advise::run(&advise, args.common),
        Command::Compare(compare) => commands::compare::run(&compare, args.common),
        Command::Replay(replay) => commands::replay::run(&replay, args.common),
        // Damage isn't a failure of the command.
        Command::Pages(pages) => match commands::pages::run(&pages, args.common) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Sort(sort) => commands::sort::run(&sort, args.common),
        Command::Join(join) => commands::join::run(&join, args.common),
        Command::Predict(predict) => commands::predict::run(&predict, args.common),
        Command::Workload(workload) => commands::workload::run(&workload, args.common),
        Command::Place(place) => commands::place::run(&place, args.common),
        // The exit code may be the recorded command's.
        Command::Capture(capture) => match commands::capture::run(&capture, args.common) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Trace(trace) => commands::trace::run(&trace, args.common),
        Command::Table(rest) => commands::elsewhere::run(&TABLES, "table", &rest, args.common),
        Command::Scan(rest) => commands::elsewhere::run(&TABLES, "scan", &rest, args.common),
        Command::Cubes(rest) => commands::elsewhere::run(&TABLES, "cubes", &rest, args.common),
        Command::Sql(rest) => commands::elsewhere::run(&SQL, "sql", &rest, args.common),
        Command::Serve(rest) => commands::elsewhere::run(&SQL, "serve", &rest, args.common),
        Command::Worker(rest) => commands::elsewhere::run(&SQL, "worker", &rest, args.common),
        Command::Completions(shell) => commands::shell::completions(Args::command(), &shell),
        Command::Man(page) => commands::shell::man_page(Args::command(), &page),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &CliError) -> ExitCode {
    output::problem(env!("CARGO_PKG_NAME"), &error.to_string());
    error.exit_code().into()
}
