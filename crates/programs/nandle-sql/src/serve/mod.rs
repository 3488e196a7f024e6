//! `nandle serve`: read-only tables for many clients. `limits` bounds the queries independently of
//! the protocol; each protocol has a folder.

mod args;
mod http;
mod limits;
mod listening;
mod pg;

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nandle_dashboard::Facts;
use nandle_engine::{STACK_BYTES, Sessions};
use nandle_session::Cancel;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::{Failure, output};
use nandle_units::format_bytes;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

pub(crate) use args::ServeArgs;
use http::{Dashboard, Devices, Token};
use limits::Limits;
use listening::Listener;

use crate::error::of_engine;
use crate::{engine, tables};

/// Threads for connections; queries have others.
const THREADS: usize = 2;
/// Timeout of the shutdown.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// Interval between checks for a signal.
const ASKED_AFTER: Duration = Duration::from_millis(50);

/// Addresses and contents of a server.
#[derive(Debug, Serialize)]
struct Served<'a> {
    /// Address of the dashboard; `null` without one.
    dashboard: Option<String>,
    /// Address for PostgreSQL clients; `null` without one.
    pg: Option<String>,
    tables: &'a [String],
    /// Memory of operators and reads for all queries together.
    memory_bytes: u64,
}

/// Ports, bound before the tables are opened, which may take a while.
struct Ports {
    dashboard: Option<(Listener, Option<Token>)>,
    pg: Option<Listener>,
}

/// Runs the command until a signal ends it.
pub(crate) fn run(args: &ServeArgs, common: Common) -> Result<(), Failure> {
    let sources = tables::find(&args.engine.sources)?;
    let facts = args.airports.as_deref().map(facts).transpose()?.unwrap_or_default();
    let dashboard = args.dashboard()?;
    let runtime = threads()?;
    let ports = runtime.block_on(async {
        let dashboard = match dashboard {
            Some((address, token)) => Some((Listener::bind(address, "--listen").await?, token)),
            None => None,
        };
        let pg = match args.pg {
            Some(address) => Some(Listener::bind(address, "--pg").await?),
            None => None,
        };
        Ok::<_, Failure>(Ports { dashboard, pg })
    })?;
    let cancel = cancel_on_signals()?;
    let queries = args.queries.unwrap_or_else(usual_queries);
    // Building the dashboard's sums takes one query's share of the read memory.
    let reading = queries.saturating_add(usize::from(ports.dashboard.is_some()));
    let (engine, _spill) = engine::start(&args.engine, reading)?;
    engine::add_tables(&engine, &args.engine, &sources, &cancel, common)?;
    let sessions = Arc::new(engine.into_sessions().map_err(|error| of_engine(&error))?);
    let limits = Arc::new(Limits::new(queries, Duration::from_nanos(args.time_limit.0)));
    let tables: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    let served = Served {
        dashboard: ports.dashboard.as_ref().map(|(listener, _)| format!("http://{}/", listener.address())),
        pg: ports.pg.as_ref().map(|listener| listener.address().to_string()),
        tables: &tables,
        memory_bytes: args.engine.memory_bytes()?,
    };
    let dashboard = match ports.dashboard {
        Some((listener, token)) => {
            let (memory_bytes, threads) = engine::limits(&args.engine, reading)?;
            let devices = Devices::new(&args.on, memory_bytes, threads);
            let shared = (Arc::clone(&sessions), Arc::clone(&limits));
            let dashboard = Dashboard::new(shared, Arc::clone(&devices), &tables, facts, token)?;
            devices.begin_measuring(&cancel);
            Some((listener, dashboard))
        }
        None => None,
    };
    tell(&served, common)?;
    runtime.block_on(async {
        tokio::select! {
            () = serve_dashboard(dashboard) => {}
            () = serve_pg(ports.pg, sessions, limits) => {}
            () = ended(&cancel) => {}
        }
    });
    // Connected clients aren't waited for. Their queries and running builds were cancelled, and end
    // before the spill directory is removed.
    runtime.shutdown_timeout(ENDS_WITHIN);
    Ok(())
}

async fn serve_dashboard(dashboard: Option<(Listener, Dashboard)>) {
    match dashboard {
        Some((listener, dashboard)) => http::serve(listener, Arc::new(dashboard)).await,
        None => std::future::pending().await,
    }
}

async fn serve_pg(listener: Option<Listener>, sessions: Arc<Sessions>, limits: Arc<Limits>) {
    match listener {
        Some(listener) => pg::serve(listener, sessions, limits).await,
        None => std::future::pending().await,
    }
}

fn facts(path: &Path) -> Result<Facts, Failure> {
    let failed = |error: String| Failure::failed(format!("reading {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    Facts::read(BufReader::new(file)).map_err(|error| failed(error.to_string()))
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

/// Twice the number of processors: while one query waits for reads another computes.
fn usual_queries() -> NonZeroUsize {
    let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    processors.saturating_mul(NonZeroUsize::MIN.saturating_add(1))
}

fn tell(served: &Served<'_>, common: Common) -> Result<(), Failure> {
    if common.json {
        return output::json(served);
    }
    let tables = match served.tables {
        [] => "no tables".to_owned(),
        tables => tables.join(", "),
    };
    let mut text = format!("Serving {tables}\n");
    if let Some(address) = &served.dashboard {
        let _ = writeln!(text, "Dashboard: {address}");
    }
    if let Some(address) = &served.pg {
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        let _ = writeln!(text, "SQL: psql -h {} -p {port}", host.trim_matches(['[', ']']));
    }
    let _ = writeln!(text, "Memory: {} (--memory)", format_bytes(served.memory_bytes));
    output::result(&text)
}

async fn ended(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(ASKED_AFTER).await;
    }
}
