//! The `nandle-sql` program: provides `nandle`'s commands `sql`, `serve` and `worker`. It is
//! separate because of the size of the query engine.

mod address;
mod allocator;
mod args;
mod descriptors;
mod engine;
mod error;
mod memory;
mod prompt;
mod record;
mod serve;
mod shell;
mod spill;
mod sql;
mod tables;
mod temporary;
mod whole;
mod worker;
mod workers;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use nandle_engine::STACK_BYTES;
use nandle_terminal::{CommandDefinition, Exit, output};

use args::{Args, Command};
use engine::EngineArgs;

/// As in `nandle-tables`: buffers of megabytes are freed as often as they are allocated.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs on a large stack, as do all threads that hold statements: statements may be deeply nested.
fn main() -> ExitCode {
    quiet_decoders();
    descriptors::allow_all_there_may_be();
    let main = std::thread::Builder::new().name("nandle-main".to_owned()).stack_size(STACK_BYTES).spawn(run);
    match main.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            output::problem(env!("CARGO_PKG_NAME"), &format!("starting a thread: {error}"));
            Exit::Failed.into()
        }
    }
}

fn run() -> ExitCode {
    let args = Args::parse();
    if let Some(Ok(memory_bytes)) = args.command.engine().map(EngineArgs::memory_bytes) {
        allocator::give_back_soon(memory_bytes);
    }
    let result = match args.command {
        Command::Sql(sql) => sql::run(&sql, args.common),
        Command::Serve(serve) => serve::run(&serve, args.common),
        Command::Worker(worker) => worker::run(&worker, args.common),
        Command::Definition => output::json(&CommandDefinition::of(&Args::command())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::problem(env!("CARGO_PKG_NAME"), &failure.message);
            failure.exit.into()
        }
    }
}

/// Silences panics of the Parquet library on hostile files. They are caught and become errors that
/// name the file.
fn quiet_decoders() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let crates = ["/parquet-", "/arrow-"];
        let is_decoder = |file: &str| crates.iter().any(|name| file.contains(name));
        if !info.location().is_some_and(|location| is_decoder(location.file())) {
            usual(info);
        }
    }));
}
