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

/// Measures storage the way a database uses it, and says what the measurement means for the database.
#[derive(Debug, Parser)]
#[command(name = "nandle", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  nandle probe .                     what can the disk under this directory do?\n  nandle sweep . --plan              what would a sweep run, and how long?\n  nandle report a.json b.json        two devices side by side\n  nandle probe model:x25-m-g2        a modelled drive, in virtual time\n  nandle advise profile.json --for postgresql\n                                     what to set, and why\n\nSizes are 4KiB, 64MiB, 4GiB (4K = 4KiB), times 250us, 3ms, 60s."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command is described where its arguments are: a comment here would take the place of all that is said there.
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
    /// Record what a disk is asked for, as a trace
    ///
    /// Reads, writes, syncs and discards are recorded, when each went to the disk and how long it took. That comes from the kernel's own
    /// trace events, which takes root and a mounted tracefs, and nothing to install. They are watched in an instance of their own,
    /// which is removed at the end, also after Ctrl-C, so that other tracing goes on undisturbed.
    ///
    /// With --pid or a command, what other programs ask for is left out and counted. A request belongs to the program that asked for
    /// it: reads, direct writes, and what a sync writes are the program's. What the kernel writes by itself, later (write-back of the
    /// page cache, the file system's journal), has no program's name on it: it is kept, for whichever program it is, and counted apart.
    /// A client's writes are its server's: for a database server that is running already, name the server by --pid, beside the
    /// command or without.
    ///
    /// A partition's addresses count from its beginning. Of a file system on LVM or on an encrypted device, what reaches the disk
    /// below is recorded, also of other volumes on it. Requests of this program itself are left out.
    Capture(CaptureArgs),
    Trace(TraceArgs),
    /// Make, fill, describe and check tables of Parquet files (by nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle table load flights/ 2007.csv 2008.csv.zst\n  nandle table describe flights/\n  nandle table --help"
    )]
    Table(ElsewhereArgs),
    /// Read columns of a table or of Parquet files, by plan, and say how long it takes (by nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle scan flights/ --columns Origin,ArrDelay --in Origin=IAH,HOU --explain\n  nandle scan --help"
    )]
    Scan(ElsewhereArgs),
    /// Count the 69 flight cubes of the Dashboard paper, here and on other devices (by nandle-tables)
    #[command(
        after_help = "Examples:\n  nandle cubes flights/ --on model:crucial-m4-256\n  nandle cubes --help"
    )]
    Cubes(ElsewhereArgs),
    /// Query tables and Parquet files in SQL, with reads that are planned (by nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle sql flights/ -c 'EXPLAIN SELECT count(*) FROM flights WHERE \"Year\" = 2008'\n  nandle sql --help"
    )]
    Sql(ElsewhereArgs),
    /// Serve a dashboard of flights, and tables to SQL clients, read-only (by nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle serve flights/\n  nandle serve flights/ --pg 127.0.0.1:5433\n  nandle serve --help"
    )]
    Serve(ElsewhereArgs),
    /// Take parts of other machines' queries, over this machine's copy of the data (by nandle-sql)
    #[command(
        after_help = "Examples:\n  nandle worker flights/\n  nandle sql flights/ --workers http://127.0.0.1:8651\n  nandle worker --help"
    )]
    Worker(ElsewhereArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
