//! The command line: global options and subcommands.

use clap::{Parser, Subcommand};
use nandle_terminal::args::Common;

use crate::commands::advise::AdviseArgs;
use crate::commands::capture::CaptureArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::elsewhere::ElsewhereArgs;
use crate::commands::join::JoinArgs;
use crate::commands::models::ModelsArgs;
use crate::commands::pages::PagesArgs;
use crate::commands::place::PlaceArgs;
use crate::commands::predict::PredictArgs;
use crate::commands::probe::ProbeArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::report::ReportArgs;
use crate::commands::shell::{CompletionsArgs, ManArgs};
use crate::commands::sort::SortArgs;
use crate::commands::sweep::SweepArgs;
use crate::commands::trace::TraceArgs;
use crate::commands::workload::WorkloadArgs;

/// Measure storage the way a database uses it, and interpret the results
#[derive(Debug, Parser)]
#[command(name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle probe .                     profile the disk under this directory\n  nandle sweep . --plan              list the runs of a sweep and their duration\n  nandle report a.json b.json        compare two devices in one report\n  nandle probe model:x25-m-g2        profile a modelled drive, in virtual time\n  nandle advise profile.json --for postgresql\n                                     recommend settings, with reasons\n\nSizes: 4KiB, 64MiB, 4GiB (4K = 4KiB). Times: 250us, 3ms, 60s."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands. Each is documented at its arguments: a doc comment here would replace that text.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Probe(ProbeArgs),
    Sweep(Box<SweepArgs>),
    Models(ModelsArgs),
    Report(ReportArgs),
    Advise(AdviseArgs),
    Compare(Box<CompareArgs>),
    Replay(Box<ReplayArgs>),
    Pages(PagesArgs),
    Sort(Box<SortArgs>),
    Join(Box<JoinArgs>),
    Workload(Box<WorkloadArgs>),
    Place(Box<PlaceArgs>),
    Predict(Box<PredictArgs>),
    /// Record a disk's requests as a trace
    ///
    /// Records reads, writes, syncs and discards, with the time and the duration of each. The
    /// source is the kernel's trace events: this needs root and a mounted tracefs, but nothing to
    /// install. The events are read from a separate tracefs instance, so other tracing isn't
    /// disturbed. The instance is removed at the end, also after Ctrl-C.
    ///
    /// With --pid or a command, requests of other programs are counted but not recorded. Reads,
    /// direct writes and the writes of a sync belong to the program that issued them. Later writes
    /// by the kernel (write-back of the page cache, the file system's journal) belong to no
    /// program: they are always recorded, and counted separately. A client's writes are issued by
    /// its server: if a database server is already running, name it with --pid, with or without a
    /// command.
    ///
    /// Addresses on a partition count from its start. For a file system on LVM or on an encrypted
    /// device, the trace covers the disk below, including requests to other volumes on it. Requests
    /// of nandle itself are left out.
    Capture(CaptureArgs),
    Trace(TraceArgs),
    /// Create, load, describe and check tables of Parquet files (requires nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle table load flights/ 2007.csv 2008.csv.zst\n  nandle table describe flights/\n  nandle table --help"
    )]
    Table(ElsewhereArgs),
    /// Read columns of a table or of Parquet files with planned reads, and time it (requires
    /// nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle scan flights/ --columns Origin,ArrDelay --in Origin=IAH,HOU --explain\n  nandle scan --help"
    )]
    Scan(ElsewhereArgs),
    /// Compute the 69 flight cubes of the Dashboard paper, here and on other devices (requires
    /// nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle cubes flights/ --on model:crucial-m4-256\n  nandle cubes --help"
    )]
    Cubes(ElsewhereArgs),
    /// Query tables and Parquet files in SQL (requires nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle sql flights/ -c 'EXPLAIN SELECT count(*) FROM flights WHERE \"Year\" = 2008'\n  nandle sql --help"
    )]
    Sql(ElsewhereArgs),
    /// Serve a flight dashboard and read-only SQL clients (requires nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle serve flights/\n  nandle serve flights/ --pg 127.0.0.1:5433\n  nandle serve --help"
    )]
    Serve(ElsewhereArgs),
    /// Execute parts of other machines' queries (requires nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle worker flights/\n  nandle sql flights/ --workers http://127.0.0.1:8651\n  nandle worker --help"
    )]
    Worker(ElsewhereArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
