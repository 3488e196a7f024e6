//! `nandle worker`: executes parts of other machines' queries over its own copy of the data.

mod args;

use std::num::NonZeroUsize;

use nandle_distributed::{WorkerOptions, WorkerServer};
use nandle_session::Cancel;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::{Failure, output};
use nandle_units::format_bytes;
use serde::Serialize;

pub(crate) use args::WorkerArgs;

use crate::workers::of_worker;
use crate::{engine, tables};

/// Parts of a query on one worker at once, which share the read memory: one per joined table, and
/// two with few workers.
const PARTS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Address and data of a worker.
#[derive(Debug, Serialize)]
struct Working<'a> {
    url: String,
    tables: Vec<&'a str>,
    /// Memory of operators and reads for all parts together.
    memory_bytes: u64,
}

/// Runs the command until a signal ends it.
pub(crate) fn run(args: &WorkerArgs, common: Common) -> Result<(), Failure> {
    let options: WorkerOptions = args.options()?;
    let sources = tables::find(&args.engine.sources)?;
    let Some(directory) = tables::directory(&sources) else {
        return Err(Failure::usage(
            "a worker works over data: name tables, files or directories, as for `nandle sql`",
        ));
    };
    let server = WorkerServer::listen(options).map_err(|error| of_worker(&error))?;
    let cancel = cancel_on_signals()?;
    let (engine, _spill) = engine::start(&args.engine, PARTS)?;
    let costs = engine::costs(&args.engine, &sources, &directory, &cancel, common)?;
    engine::add_sources(&engine, &sources, &costs)?;
    let tables = sources.iter().map(|source| source.name.as_str()).collect();
    let working = Working { url: server.url(), tables, memory_bytes: args.engine.memory_bytes()? };
    tell(&working, &args.engine.sources, common)?;
    let is_over = || Cancel::is_cancelled(&cancel);
    server.serve(engine.into_host(), &costs, &is_over).map_err(|error| of_worker(&error))
}

fn tell(working: &Working<'_>, sources: &[String], common: Common) -> Result<(), Failure> {
    if common.json {
        return output::json(working);
    }
    let (tables, url) = (working.tables.join(", "), &working.url);
    output::result(&format!(
        "Working over {tables} at {url}: nandle sql {} --workers {url}\nMemory: {} (--memory)\n",
        sources.join(" "),
        format_bytes(working.memory_bytes)
    ))
}
