//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use nandle_engine::Format;
use nandle_terminal::args::Common;

use crate::engine::EngineArgs;
use crate::serve::ServeArgs;
use crate::worker::WorkerArgs;
use crate::workers::WorkersArgs;

/// Query tables and Parquet files in SQL
///
/// `nandle sql …` runs `nandle-sql sql …`, and likewise `serve` and `worker`.
#[derive(Debug, Parser)]
#[command(name = "nandle-sql", bin_name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle sql 2008.parquet -c 'SELECT count(*) FROM t2008'\n  nandle sql flights/ carriers.parquet -f day.sql --format csv\n  nandle sql flights/ -c 'EXPLAIN SELECT avg(\"ArrDelay\") FROM flights'\n                                                        predict the reads and their time\n  nandle serve flights/ --pg 127.0.0.1:5433 --listen 127.0.0.1:8642\n  nandle worker flights/                                for nandle sql flights/ --workers URL\n\nSizes: 4KiB, 64MiB, 4GiB (4K = 4KiB). Times: 250us, 3ms, 60s."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Query tables and Parquet files in SQL
    ///
    /// Each argument becomes an SQL table: a table's directory, a file, a directory of files or a
    /// pattern. Subdirectories named KEY=VALUE become columns: integers, dates or text. The SQL
    /// table's name is that of the file or directory, in lower case and without the extension
    /// (2008.parquet: t2008), unless given as NAME=PATH. Put column names with capital letters in
    /// double quotes.
    ///
    /// EXPLAIN shows the planned reads of each scan, their device and processor time, and the
    /// query's predicted time if only scans matter. EXPLAIN ANALYZE shows the actual figures. SET
    /// nandle.reads = 'engine' uses the engine's own reader.
    ///
    /// Without -c and -f, statements come from standard input; a terminal gets a prompt.
    Sql(Box<SqlArgs>),
    /// Serve a flight dashboard and read-only SQL clients
    ///
    /// Tables are named as for `nandle sql`.
    ///
    /// The dashboard (--listen) is a web page for airport managers. It compares an airport's
    /// flights with those of similar airports, and shows the cost of each figure. It uses the first
    /// table with the columns of flights, as made by `nandle table load` or `generate`, and shows
    /// new snapshots as they appear.
    ///
    /// PostgreSQL clients (--pg) such as psql, drivers and Grafana connect with any user and
    /// database, without a password, and can only read. SET nandle.reads applies to the session.
    ///
    /// All clients share --memory. --queries and --time-limit bound running queries. Ctrl-C stops
    /// the server.
    Serve(Box<ServeArgs>),
    /// Execute parts of other machines' queries
    ///
    /// Start `nandle sql` with the same tables and the workers' URLs (--workers). Each worker has
    /// its own copy of the data or a shared directory, and reads it by its own device's profile. It
    /// refuses queries of another snapshot, of other files or of another program version.
    ///
    /// Scans are divided so that all workers are predicted to take equally long. Workers connect to
    /// each other by the URLs in --workers. Ctrl-C stops the worker.
    Worker(Box<WorkerArgs>),
    /// Print the commands as JSON, for the completions and manual pages of `nandle`
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

/// Query tables and Parquet files in SQL
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nandle sql 2008.parquet -c 'SELECT \"Origin\", count(*) FROM t2008 GROUP BY 1 ORDER BY 2 DESC LIMIT 5'\n  nandle sql days='data/*/*.parquet' flights/ -f day.sql --format csv --memory 256MiB\n  nandle sql flights/ -c 'EXPLAIN ANALYZE SELECT avg(\"ArrDelay\") FROM flights'\n  nandle sql flights/ -f day.sql --record day.needs.zst && nandle predict day.needs.zst --on model:nvme-tlc,model:wd2003fyys\n  nandle sql flights/ -f day.sql --workers http://127.0.0.1:8651,http://127.0.0.1:8652 --retry"
)]
pub(crate) struct SqlArgs {
    /// Statements to run, separated by semicolons; may be repeated
    #[arg(short = 'c', long = "command", value_name = "QUERY")]
    pub(crate) commands: Vec<String>,
    /// File of statements to run after those of -c; may be repeated
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format of rows
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: FormatArg,
    /// Record the reads and processor time of each statement for `nandle predict`
    #[arg(long, value_name = "FILE", conflicts_with = "workers")]
    pub(crate) record: Option<PathBuf>,
    /// Omit file names and statements from the recording
    #[arg(long, requires = "record")]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) workers: WorkersArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Output format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Aligned columns
    Table,
    /// CSV with a header
    Csv,
    /// JSON Lines: one object per row
    Json,
    /// Arrow IPC stream
    Arrow,
    /// Parquet file
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
