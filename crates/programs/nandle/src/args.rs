//! The command line.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _, UnknownArgumentValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use nandle_io::Nanos;
use nandle_probe::load::{Arrivals, Refill};
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::Preset;
use nandle_profile::OperationKind;
use nandle_target::{IoChoice, TargetSpec};
use nandle_units::{parse_bytes, parse_duration};

use crate::commands::advise::AdviseArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::models::Wear;
use crate::commands::replay::ReplayArgs;
use crate::commands::trace::TraceArgs;

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

/// What every command takes.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Common {
    /// Print the result as JSON on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Profile a device within a time budget
    Probe(ProbeArgs),
    /// Measure every combination of block size, group size, queue depth and pattern
    Sweep(Box<SweepArgs>),
    /// List, show, export and age the modelled drives
    Models(ModelsArgs),
    /// Make the HTML report of one profile, or of several to compare
    Report(ReportArgs),
    /// Settings for a database or the kernel, each with the number and the rule behind it
    Advise(AdviseArgs),
    /// A profile against an older one, or drives side by side: prices, sizing, placement
    Compare(Box<CompareArgs>),
    /// Replay a trace under several write policies, side by side
    Replay(Box<ReplayArgs>),
    /// Say what a block trace looks like to a drive, and convert traces
    Trace(TraceArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  nandle completions bash > ~/.local/share/bash-completion/completions/nandle\n  nandle completions zsh > ~/.zfunc/_nandle\n  nandle completions fish > ~/.config/fish/completions/nandle.fish"
    )]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(
        after_help = "Examples:\n  nandle man > nandle.1 && man -l nandle.1\n  nandle man sweep > nandle-sweep.1 && man -l nandle-sweep.1"
    )]
    Man {
        /// The page of this command [default: that of the program]
        command: Option<String>,
    },
}

/// How the target is opened.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct TargetArgs {
    /// A directory (a test file is made in it, and gone afterwards), a file, a block device, a modelled drive
    /// (model:NAME, model:PATH.toml; `nandle models --help` says more), or an array of them in
    /// software (raid0:64KiB:/mnt/a,/mnt/b; raid10:64KiB:model:NAME*4)
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) target: TargetSpec,
    /// Size of the test file in a directory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_bytes)]
    pub(crate) file_size: u64,
    /// How requests reach the device
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) io: IoArg,
    /// Go through the page cache instead of around it
    #[arg(long)]
    pub(crate) buffered: bool,
    /// Give a device up that has been silent for this long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_duration)]
    pub(crate) patience: Nanos,
    /// Leave cells out that would have more bytes outstanding at once
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_bytes)]
    pub(crate) outstanding_max: u64,
    /// Seed of the random patterns
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The named file's contents may be lost; a file that doesn't exist is made, and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// The named block device's contents may be lost
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// Processor time that a request to a modelled drive costs its host, which has one processor [default: 2us]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) request_cpu: Option<Nanos>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum IoArg {
    /// `io_uring`, or threads where it is refused
    Auto,
    /// `io_uring` or nothing
    #[value(name = "io_uring", alias = "uring")]
    Uring,
    /// Blocking system calls in threads
    Threads,
}

impl From<IoArg> for IoChoice {
    fn from(arg: IoArg) -> Self {
        match arg {
            IoArg::Auto => Self::Auto,
            IoArg::Uring => Self::Uring,
            IoArg::Threads => Self::Threads,
        }
    }
}

fn two_outputs() -> UnknownArgumentValueParser {
    let tip =
        "the results go to two files: `--profile` names that of the profile, `--report` that of the report";
    UnknownArgumentValueParser::suggest(tip)
}

/// Profile a device within a time budget.
///
/// Writes a test file (unless the target is one, or a device), reads it in short interleaved slices, searches where
/// the device's limits are, and writes what it found as JSON and as a page. With five minutes or more it also
/// conducts experiments that write (`nandle probe TARGET --experiments` lists them), where that harms nothing: to the
/// test file, to a modelled drive, to a file or a device whose contents may be lost.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle probe .\n  nandle probe /var/lib/postgresql --budget 10m --profile db.json --report db.html\n  nandle probe . --only write-patterns,flush --budget 2m --yes\n  nandle probe . --budget 10m --resume\n  sudo nandle probe /dev/nvme0n1\n  nandle probe model:x25-m-g2 --budget 30s"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Time for everything; a quarter of it at most goes into writing the test file. From 5m on experiments write. Of a modelled drive it is virtual
    /// time, and how long that takes depends on how many requests fit into it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Nanos,
    /// Where the profile goes. When the probe ends early and a complete profile is there, that one stays, and the new
    /// one goes to profile.partial.json beside it
    #[arg(long, value_name = "PATH", default_value = "profile.json")]
    pub(crate) profile: PathBuf,
    /// Where the report goes
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) report: PathBuf,
    /// What other commands have, and this one has twice; refused with a word on those.
    #[arg(long = "output", hide = true, value_parser = two_outputs())]
    _output: Option<String>,
    /// Write nothing but the test file's first contents
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Bytes that all experiments together may write [default: an eighth of the free space, or of a raw device; no limit
    /// on modelled drives]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) write_limit: Option<u64>,
    /// Conduct these experiments alone (`reads` is the read side)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Leave these experiments out
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Go on with the profile that an interrupted probe left: what is complete in it isn't measured again
    #[arg(long)]
    pub(crate) resume: bool,
    /// List the experiments with what each would cost within the budget; run nothing
    #[arg(long)]
    pub(crate) experiments: bool,
}

/// Measure every combination of pattern, block size, group size and queue depth.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle sweep . --plan\n  nandle sweep . --block-sizes 2K,32K,1M --group-sizes 1,4,16 --queue-depths 1,4,32 --output sweep.csv\n  nandle sweep . --operation mixed:70 --patterns random --time-per-run 5s --json\n  nandle sweep . --resume sweep.json --output sweep.json\n  nandle sweep model:mtron-16 --operation write --patterns sequential,random,focused:8MiB,ordered:2\n  nandle sweep model:x25-m-g2 --preset diat --bytes-per-run 64MiB --output diat.csv"
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The parameter space of a paper: what is not given below is as in it
    #[arg(long, value_name = "PAPER")]
    pub(crate) preset: Option<PresetArg>,
    /// Bytes of one request [default: 4KiB to 1MiB in doublings]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = parse_bytes)]
    pub(crate) block_sizes: Vec<u64>,
    /// Blocks read one after the other before the random pattern jumps; other patterns have no groups [default: 1]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub(crate) group_sizes: Vec<u64>,
    /// Requests outstanding [default: 1,4,16,32,64]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub(crate) queue_depths: Vec<u32>,
    /// random, sequential, focused:SIZE, partitioned:STREAMS, ordered:STRIDE, zipf:SKEW [default: random,sequential]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) patterns: Vec<PatternSpec>,
    /// read, write, or mixed:PERCENT (per cent of reads); several make cells of their own [default: read]
    #[arg(long, value_name = "OPERATIONS", value_delimiter = ',')]
    pub(crate) operation: Vec<OperationKind>,
    /// End a run after this many bytes
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(crate) bytes_per_run: Option<u64>,
    /// End a run after this time, virtual for a modelled drive [default: 2s, when no bytes are given]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) time_per_run: Option<Nanos>,
    /// exact: as many outstanding as asked for, always; batched: up to a quarter at once, for less processor time
    #[arg(long, value_name = "HOW", default_value = "exact", conflicts_with = "rate")]
    pub(crate) refill: RefillArg,
    /// Send so many requests a second, whether or not the device keeps up, and count latency from the schedule;
    /// the queue depth is then the most outstanding
    #[arg(long, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,
    /// How the requests of --rate are spread
    #[arg(long, default_value = "poisson", requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,
    /// Submitting threads, which share the queue depth; a modelled drive has one
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: u32,
    /// Print what would run, for how long, and how much it would write; of a test file the first second is written, to
    /// tell how long all of it takes, and nothing else is run
    #[arg(long)]
    pub(crate) plan: bool,
    /// Keep the cells in this file (.csv or .json), after each of them
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Leave out the cells that this file (.csv or .json) has already, and go on in it
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// What to print [default: a table on a terminal, CSV elsewhere]
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PresetArg {
    /// Random reading in groups, and sequential reading (Baumann et al., `DaMoN` 2010)
    Diat,
    /// Sequential and random reading and writing at depths 32 and 1 (Gottstein et al., 2010)
    Flashydb,
    /// The same over record sizes, one request at a time (as Regola et al. ran it, 2012)
    Iozone,
    /// Where requests go: focused, partitioned, ordered (Bouganim et al., CIDR 2009)
    Uflip,
}

impl PresetArg {
    /// What it stands for.
    pub(crate) fn preset(self) -> Preset {
        match self {
            Self::Diat => Preset::Diat,
            Self::Flashydb => Preset::Flashydb,
            Self::Iozone => Preset::Iozone,
            Self::Uflip => Preset::Uflip,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RefillArg {
    Exact,
    Batched,
}

impl From<RefillArg> for Refill {
    fn from(arg: RefillArg) -> Self {
        match arg {
            RefillArg::Exact => Self::Exact,
            RefillArg::Batched => Self::Batched,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ArrivalsArg {
    Poisson,
    Fixed,
}

impl From<ArrivalsArg> for Arrivals {
    fn from(arg: ArrivalsArg) -> Self {
        match arg {
            ArrivalsArg::Poisson => Self::Poisson,
            ArrivalsArg::Fixed => Self::Fixed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    Table,
    Csv,
    Json,
}

/// List, show, export and age the modelled drives.
///
/// A modelled drive is a target like any other: model:NAME, or model:PATH.toml for one's own. Behind it may stand how it
/// begins: model:NAME:state=new (never written), state=filled (once from start to end; what it is when nothing is said),
/// state=70% (filled so far), or state=FILE, a file that `age` wrote. And what goes wrong on it: model:NAME:faults=FILE,
/// a TOML of `[[fault]]` tables, each with kind = "failed-read" (or another; a wrong one is refused with all there are) and
/// `per_million = N`. Colons, commas and asterisks in those paths take a backslash.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle models\n  nandle models show x25-m-g2\n  nandle probe model:x25-m-g2:state=new\n  nandle models age x25-e-64 --fill 70% --write random:64GiB --output aged.zst && nandle sweep model:x25-e-64:state=aged.zst --operation write\n  nandle models export x25-m-g2 > mine.toml && nandle probe model:mine.toml"
)]
pub(crate) struct ModelsArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Name every modelled drive and array
    List,
    /// Say what a model is
    Show {
        /// A name of the list, or one's own file (PATH.toml)
        name: String,
    },
    /// Print a model's parameters as TOML, each with its source
    Export {
        /// A name of the list, or one's own file (PATH.toml)
        name: String,
    },
    /// Write to a modelled flash drive until it is worn, and keep its state
    Age(Box<AgeArgs>),
}

/// Write to a modelled flash drive until it is worn, and keep its state.
///
/// The drive is filled once from start to end, and then written to in virtual time, one --write after the other. What it
/// is then, as `model:NAME:state=FILE`, is the first state of every probe and every cell of a sweep.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle models age x25-e-64 --write random:5h --output aged.zst\n  nandle models age x25-e-64 --fill 70% --write random:128GiB --output aged.zst\n  nandle models age mtron-16 --write sequential:2GiB,focused:8MiB:10m --output worn.zst\n  nandle models age x25-e-64 --from aged.zst --write random:5h --output older.zst"
)]
pub(crate) struct AgeArgs {
    /// A name of the list, or one's own file (PATH.toml)
    pub(crate) name: String,
    /// How much of it is filled first, from its start on; writes then stay in that part
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = percent)]
    pub(crate) fill: u8,
    /// Begin with a state that this command wrote before
    #[arg(long, value_name = "FILE", conflicts_with = "fill")]
    pub(crate) from: Option<PathBuf>,
    /// What to write: a pattern, as a sweep has it, and an amount of data or of virtual time
    #[arg(long, value_name = "PATTERN:AMOUNT", value_delimiter = ',', required = true)]
    pub(crate) write: Vec<Wear>,
    /// Bytes of one write
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = positive_bytes)]
    pub(crate) block_size: u64,
    /// Writes outstanding
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    pub(crate) queue_depth: u32,
    /// Seed of the random patterns
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where the state goes
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Make the HTML report of one profile, or of several to compare.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle report profile.json\n  nandle report old-disk.json new-disk.json --output compare.html"
)]
pub(crate) struct ReportArgs {
    /// Profiles that `nandle probe` wrote
    #[arg(required = true, value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    /// Where the report goes
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) output: PathBuf,
}

/// A size that bounds something.
fn positive_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 { Err("expected a size above 0".into()) } else { Ok(bytes) }
}

/// A share of something.
pub(crate) fn percent(text: &str) -> Result<u8, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "expected 0% to 100%, in whole per cent".into())
}

/// A time that bounds something.
fn positive_duration(text: &str) -> Result<Nanos, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time == Nanos::ZERO { Err("expected a time above 0".into()) } else { Ok(time) }
}
