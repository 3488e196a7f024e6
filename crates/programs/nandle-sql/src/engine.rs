//! Engine of a command, with the named tables.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use nandle_engine::{Engine, EngineOptions, Source};
use nandle_reads::{Pricing, ReadCosts};
use nandle_session::Cancel;
use nandle_terminal::args::{Common, bytes_of_at_least, positive_bytes};
use nandle_terminal::profile::{ProfileArgs, costs_of};
use nandle_terminal::progress::Bar;
use nandle_terminal::{Failure, cpu, output};

use crate::error::of_engine;
use crate::memory::usual_bytes;
use crate::spill::SpillDirectory;
use crate::tables;
use crate::temporary::usual_place;
use crate::workers::Workers;

/// With less memory neither reads nor operators have room.
const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// Tables and resources of the engine.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Table directory, Parquet file, directory of Parquet files, or pattern; NAME=PATH names it
    #[arg(value_name = "TABLE|FILE|DIR|GLOB")]
    pub(crate) sources: Vec<String>,
    /// Memory for operators and reads [default: half of the machine's or the control group's]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
    /// Maximum size of temporary files, which hold data that exceed --memory
    #[arg(long, value_name = "SIZE", default_value = "64GiB", value_parser = positive_bytes)]
    spill_limit: u64,
    /// Directory for temporary files [default: the system's, or /var/tmp if that is in memory]
    #[arg(long, value_name = "DIR")]
    spill_directory: Option<PathBuf>,
    /// Compute threads [default: one per processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    profile: ProfileArgs,
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "16MiB")
}

/// Starts an engine without tables, for `queries` concurrent queries. The spill directory must
/// outlive it.
pub(crate) fn start(args: &EngineArgs, queries: NonZeroUsize) -> Result<(Engine, SpillDirectory), Failure> {
    start_on(args, queries, None)
}

/// Starts an engine whose queries run partly on workers.
pub(crate) fn start_on(
    args: &EngineArgs,
    queries: NonZeroUsize,
    workers: Option<&Workers>,
) -> Result<(Engine, SpillDirectory), Failure> {
    let spill = SpillDirectory::make(&args.spill_directory.clone().unwrap_or_else(usual_place))?;
    let options = options(args, spill.path(), queries)?;
    let engine = match workers {
        Some(workers) => Engine::extended(&options, |session| workers.cluster.extend(session)),
        None => Engine::new(&options),
    };
    Ok((engine.map_err(|error| of_engine(&error))?, spill))
}

/// Registers sources as tables. Probes their device if its profile isn't known.
pub(crate) fn add_tables(
    engine: &Engine,
    args: &EngineArgs,
    sources: &[Source],
    cancel: &Cancel,
    common: Common,
) -> Result<(), Failure> {
    let Some(directory) = tables::directory(sources) else { return Ok(()) };
    let costs = costs(args, sources, &directory, cancel, common)?;
    add_sources(engine, sources, &costs)
}

/// Read costs of the directory with the sources.
pub(crate) fn costs(
    args: &EngineArgs,
    sources: &[Source],
    directory: &Path,
    cancel: &Cancel,
    common: Common,
) -> Result<ReadCosts, Failure> {
    let mut bar = Bar::new(!common.no_progress);
    let found = args.profile.find(tables::kept_profile(sources).as_deref(), directory, cancel, &mut bar);
    bar.finish();
    let (costs, missing) = costs_of(&found?.told(), None)?;
    for sentence in &missing {
        output::note(sentence);
    }
    Ok(costs)
}

/// Registers sources as tables with these read costs.
pub(crate) fn add_sources(engine: &Engine, sources: &[Source], costs: &ReadCosts) -> Result<(), Failure> {
    let pricing = Pricing::new(costs.clone()).map_err(|error| Failure::failed(error.to_string()))?;
    let added = sources.iter().try_for_each(|source| engine.add_table(source, &pricing));
    added.map_err(|error| of_engine(&error))
}

impl EngineArgs {
    /// Memory that an engine may use.
    pub(crate) fn memory_bytes(&self) -> Result<u64, Failure> {
        let unknown = "how much memory the machine has isn't known; say how much to take: --memory 1GiB";
        self.memory.or_else(usual_bytes).ok_or_else(|| Failure::usage(unknown))
    }
}

/// Read memory per query and number of compute threads, for `queries` concurrent queries.
pub(crate) fn limits(args: &EngineArgs, queries: NonZeroUsize) -> Result<(u64, NonZeroUsize), Failure> {
    let options = options(args, PathBuf::new(), queries)?;
    Ok((options.reads_bytes(), options.threads))
}

fn options(
    args: &EngineArgs,
    spill_directory: PathBuf,
    queries: NonZeroUsize,
) -> Result<EngineOptions, Failure> {
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok());
    Ok(EngineOptions {
        memory_bytes: args.memory_bytes()?,
        spill_directory,
        spill_limit_bytes: args.spill_limit,
        threads: threads.unwrap_or(NonZeroUsize::MIN),
        queries,
        thread_clock: cpu::of_thread,
        world_layer: None,
    })
}
