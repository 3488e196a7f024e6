//! `nandle sql`.

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use nandle_engine::{Engine, EngineOptions, Format, Source, Statement};
use nandle_reads::ReadCosts;
use nandle_session::Cancel;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::profile::costs_of;
use nandle_terminal::progress::Bar;
use nandle_terminal::{Failure, output};

use crate::args::SqlArgs;
use crate::error::of_engine;
use crate::record::Record;
use crate::shell::Shell;
use crate::spill::SpillDirectory;
use crate::{cpu, memory, prompt, tables};

/// Runs the command.
pub(crate) fn run(args: &SqlArgs, common: Common) -> Result<(), Failure> {
    let format = if common.json { Format::Json } else { args.format.into() };
    let texts = texts(args)?;
    let sources = tables::find(&args.sources)?;
    let cancel = cancel_on_signals()?;
    let record = Record::begin(args)?;
    let spill = spill_directory(args)?;
    let engine = Engine::new(&options(args, spill.path())?);
    let engine = engine.map_err(|error| of_engine(&error))?;
    // Statements that aren't SQL are refused before the first one runs.
    let statements = texts.iter().map(|text| engine.parse(text)).collect::<Result<Vec<_>, _>>();
    let statements: Vec<Statement> =
        statements.map_err(|error| of_engine(&error))?.into_iter().flatten().collect();
    if let Some(costs) = costs(args, &sources, &cancel, common)? {
        sources
            .iter()
            .try_for_each(|source| engine.add_table(source, &costs))
            .map_err(|error| of_engine(&error))?;
    }
    let mut shell = Shell { engine, format, record, cancel };
    let ran = if texts.is_empty() { prompt::run(&mut shell) } else { shell.run_all(&statements) };
    ran?;
    shell.record.map_or(Ok(()), Record::finish)
}

/// What -c and -f say, or else standard input; nothing where that is a terminal, which is asked then.
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

/// Where temporary files lie.
fn spill_directory(args: &SqlArgs) -> Result<SpillDirectory, Failure> {
    SpillDirectory::make(&args.spill_directory.clone().unwrap_or_else(std::env::temp_dir))
}

fn options(args: &SqlArgs, spill_directory: PathBuf) -> Result<EngineOptions, Failure> {
    let unknown =
        || Failure::usage("how much memory the machine has isn't known; say how much to take: --memory 1GiB");
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok());
    Ok(EngineOptions {
        memory_bytes: args.memory.or_else(memory::usual_bytes).ok_or_else(unknown)?,
        spill_directory,
        spill_limit_bytes: args.spill_limit,
        threads: threads.unwrap_or(NonZeroUsize::MIN),
        thread_clock: cpu::of_thread,
        world_layer: None,
    })
}

/// What reading costs where the data lie; none where there are no data.
fn costs(
    args: &SqlArgs,
    sources: &[Source],
    cancel: &Cancel,
    common: Common,
) -> Result<Option<ReadCosts>, Failure> {
    let Some(directory) = tables::directory(sources) else { return Ok(None) };
    let mut bar = Bar::new(!common.no_progress);
    let found = args.profile.find(tables::kept_profile(sources).as_deref(), &directory, cancel, &mut bar);
    bar.finish();
    let (costs, missing) = costs_of(&found?.told(), None)?;
    for sentence in &missing {
        output::note(sentence);
    }
    Ok(Some(costs))
}
