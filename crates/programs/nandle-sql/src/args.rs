//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use nandle_engine::Format;
use nandle_terminal::args::Common;

use crate::engine::EngineArgs;
use crate::serve::ServeArgs;
use crate::worker::WorkerArgs;
use crate::workers::WorkersArgs;

/// SQL on Parquet files and tables, read by plan. `nandle sql …` runs `nandle-sql sql …`.
#[derive(Debug, Parser)]
#[command(name = "nandle-sql", bin_name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle sql 2008.parquet -c 'SELECT count(*) FROM t2008'\n  nandle sql flights/ carriers.parquet -f day.sql --format csv\n  nandle sql flights/ -c 'EXPLAIN SELECT avg(\"ArrDelay\") FROM flights'\n                                                        what it will read, and how long that takes\n  nandle serve flights/ --pg 127.0.0.1:5433 --listen 127.0.0.1:8642\n  nandle worker flights/                              for nandle sql flights/ --workers URL\n\nSizes are 4KiB, 64MiB, 4GiB (4K = 4KiB), times 250us, 3ms, 60s."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Query tables and Parquet files as they lie, in SQL, with reads that are planned
    ///
    /// Each name becomes a table: a table's directory, a file, a directory of files, or a pattern. Names of directories in it that are KEY=VALUE
    /// give columns: whole numbers, dates, or else text. The table is called as the file or directory is, in
    /// small letters and without the ending (2008.parquet: t2008), or as NAME=PATH says. Columns with capital letters stand in double quotes.
    /// EXPLAIN says what each scan will read, how long the device and the processor take for it, and how long the query takes where only scans matter;
    /// EXPLAIN ANALYZE what it took; SET nandle.reads = 'engine' has
    /// the engine read by itself. Without -c and -f statements come from standard input; where that is a terminal there is a prompt.
    Sql(Box<SqlArgs>),
    /// Serve a dashboard of flights, and tables to SQL clients, read-only
    ///
    /// Tables are named and called as by `nandle sql`. The dashboard (--listen) is a page for an airport's manager: how the airport's flights do beside
    /// those of similar airports, and what each figure cost. It is of the first table that has the columns of flights, as `nandle table load` and
    /// `generate` make it, and shows new snapshots as they come. Clients of PostgreSQL (--pg) (psql, drivers, Grafana) connect with any user and database, without a
    /// password; what they may do is read. All of them share --memory; --queries and --time-limit bound what runs. SET nandle.reads counts for
    /// the session that says it. Ctrl-C ends the server.
    Serve(Box<ServeArgs>),
    /// Take parts of other machines' queries, over this machine's copy of the data
    ///
    /// Tables are named and called as by `nandle sql`, which is told of workers by --workers and has the same tables. A worker has the data in its own
    /// place, a copy or a shared directory, reads them by its own device's profile, and refuses a query of another snapshot, of other
    /// files, or of another version of the program. Scans are dealt out so that all workers are predicted to take equally long. Workers reach one
    /// another by the URLs that --workers names. Ctrl-C ends the worker.
    Worker(Box<WorkerArgs>),
    /// Print the definition of the commands as JSON, of which `nandle` makes completions and manual pages
    #[command(hide = true)]
    Definition,
}

impl Command {
    /// Engine options of the command.
    pub(crate) fn engine(&self) -> Option<&EngineArgs> {
        match self {
            Self::Sql(sql) => Some(&sql.engine),
            Self::Serve(serve) => Some(&serve.engine),
            Self::Worker(worker) => Some(&worker.engine),
            Self::Definition => None,
        }
    }
}

/// Query tables and Parquet files as they lie, in SQL.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle sql 2008.parquet -c 'SELECT \"Origin\", count(*) FROM t2008 GROUP BY 1 ORDER BY 2 DESC LIMIT 5'\n  nandle sql days='data/*/*.parquet' flights/ -f day.sql --format csv --memory 256MiB\n  nandle sql flights/ -c 'EXPLAIN ANALYZE SELECT avg(\"ArrDelay\") FROM flights'\n  nandle sql flights/ -f day.sql --record day.needs.zst && nandle predict day.needs.zst --on model:nvme-tlc,model:wd2003fyys\n  nandle sql flights/ -f day.sql --workers http://127.0.0.1:8651,http://127.0.0.1:8652 --retry"
)]
pub(crate) struct SqlArgs {
    /// Statements, with semicolons between them; several times for more
    #[arg(short = 'c', long = "command", value_name = "QUERY")]
    pub(crate) commands: Vec<String>,
    /// A file of statements; they come after those of -c
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How rows are written
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: FormatArg,
    /// Write down what each statement needed and computed, for `nandle predict`
    #[arg(long, value_name = "FILE", conflicts_with = "workers")]
    pub(crate) record: Option<PathBuf>,
    /// Leave names of files and the statements out of the recording
    #[arg(long, requires = "record")]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) workers: WorkersArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Aligned, for people
    Table,
    /// With a header
    Csv,
    /// An object for each row, on a line of its own
    Json,
    /// Arrow's IPC stream
    Arrow,
    /// A Parquet file
    Parquet,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Table => Self::Table,
            FormatArg::Csv => Self::Csv,
            FormatArg::Json => Self::Json,
            FormatArg::Arrow => Self::Arrow,
            FormatArg::Parquet => Self::Parquet,
        }
    }
}
