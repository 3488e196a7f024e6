//! `nandle sql`.

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;

use nandle_engine::{Format, Statement};
use nandle_terminal::Failure;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;

use crate::args::SqlArgs;
use crate::error::of_engine;
use crate::record::Record;
use crate::shell::Shell;
use crate::{engine, prompt, tables};

pub(crate) fn run(args: &SqlArgs, common: Common) -> Result<(), Failure> {
    let format = if common.json { Format::Json } else { args.format.into() };
    let texts = texts(args)?;
    let sources = tables::find(&args.engine.sources)?;
    let cancel = cancel_on_signals()?;
    let record = Record::begin(args)?;
    let workers = args.workers.connect()?;
    let (engine, _spill) = engine::start_on(&args.engine, NonZeroUsize::MIN, workers.as_ref())?;
    // Invalid SQL is refused before the first statement runs.
    let statements = texts.iter().map(|text| engine.parse(text)).collect::<Result<Vec<_>, _>>();
    let statements: Vec<Statement> =
        statements.map_err(|error| of_engine(&error))?.into_iter().flatten().collect();
    check_one_file(format, &statements)?;
    engine::add_tables(&engine, &args.engine, &sources, &cancel, common)?;
    let retry = workers.as_ref().filter(|workers| workers.is_retried);
    let mut shell = Shell { engine, format, record, retry, cancel };
    let ran = if texts.is_empty() { prompt::run(&mut shell) } else { shell.run_all(&statements) };
    match (ran, shell.record) {
        (Ok(()), Some(record)) => record.finish(),
        (failed, Some(record)) => {
            record.finish_early();
            failed
        }
        (ran, None) => ran,
    }
}

/// Allows one result for Parquet and Arrow files: readers see only one of two concatenated files.
fn check_one_file(format: Format, statements: &[Statement]) -> Result<(), Failure> {
    let format = match format {
        Format::Parquet => "Parquet",
        Format::Arrow => "Arrow",
        Format::Table | Format::Csv | Format::Json => return Ok(()),
    };
    let queries = statements.iter().filter(|statement| statement.is_query()).count();
    if queries > 1 {
        return Err(Failure::usage(format!(
            "{queries} queries in one output of {format}, which holds one result: give one query, or another --format"
        )));
    }
    Ok(())
}

/// Texts of -c and -f, or standard input; empty on a terminal, which gets a prompt.
fn texts(args: &SqlArgs) -> Result<Vec<String>, Failure> {
    let mut texts = args.commands.clone();
    for path in &args.files {
        let read = std::fs::read_to_string(path);
        texts.push(read.map_err(|error| Failure::failed(format!("reading {}: {error}", path.display())))?);
    }
    if texts.is_empty() && !std::io::stdin().is_terminal() {
        let text = std::io::read_to_string(std::io::stdin());
        texts.push(
            text.map_err(|error| {
                Failure::failed(format!("reading statements from standard input: {error}"))
            })?,
        );
    }
    Ok(texts)
}
