//! `nandle serve`: tables for many clients at once, which only read. `limits` bounds what runs and knows no protocol; each protocol has a folder.

mod args;
mod limits;
mod pg;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use nandle_engine::STACK_BYTES;
use nandle_session::Cancel;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::{Failure, output};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

pub(crate) use args::ServeArgs;
use limits::Limits;

use crate::error::of_engine;
use crate::{engine, tables};

/// Threads that speak with clients; others compute.
const THREADS: usize = 2;
/// How often it is asked whether the server is to end.
const ASKED_AFTER: Duration = Duration::from_millis(50);

/// Where it listens, and what it serves.
#[derive(Debug, Serialize)]
struct Served<'a> {
    pg: String,
    tables: Vec<&'a str>,
}

/// Runs the command, until a signal ends it.
pub(crate) fn run(args: &ServeArgs, common: Common) -> Result<(), Failure> {
    let sources = tables::find(&args.engine.sources)?;
    let runtime = threads()?;
    let listener = runtime.block_on(pg::listen(args.pg))?;
    let cancel = cancel_on_signals()?;
    let queries = args.queries.unwrap_or_else(usual_queries);
    let (engine, _spill) = engine::start(&args.engine, queries)?;
    engine::add_tables(&engine, &args.engine, &sources, &cancel, common)?;
    let sessions = engine.into_sessions().map_err(|error| of_engine(&error))?;
    let limits = Limits::new(queries, Duration::from_nanos(args.time_limit.0));
    let tables = sources.iter().map(|source| source.name.as_str()).collect();
    tell(&Served { pg: listener.address().to_string(), tables }, common)?;
    runtime.block_on(async {
        tokio::select! {
            () = listener.serve(Arc::new(sessions), Arc::new(limits)) => {}
            () = ended(&cancel) => {}
        }
    });
    // Clients that are connected aren't waited for.
    runtime.shutdown_background();
    Ok(())
}

fn threads() -> Result<Runtime, Failure> {
    let threads = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_stack_size(STACK_BYTES)
        .thread_name("nandle-serve")
        .enable_all()
        .build();
    threads.map_err(|error| Failure::failed(format!("starting the server's threads: {error}")))
}

/// Twice as many as there are processors: while one waits for its reads another one computes.
fn usual_queries() -> NonZeroUsize {
    let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    processors.saturating_mul(NonZeroUsize::MIN.saturating_add(1))
}

fn tell(served: &Served<'_>, common: Common) -> Result<(), Failure> {
    if common.json {
        return output::json(served);
    }
    let tables = match &*served.tables {
        [] => "no tables".to_owned(),
        tables => tables.join(", "),
    };
    let (host, port) = served.pg.rsplit_once(':').unwrap_or((&served.pg, ""));
    let host = host.trim_matches(['[', ']']);
    output::result(&format!("Serving {tables} on {}: psql -h {host} -p {port}\n", served.pg))
}

async fn ended(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(ASKED_AFTER).await;
    }
}
