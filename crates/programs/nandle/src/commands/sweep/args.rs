use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nandle_io::Nanos;
use nandle_probe::load::{Arrivals, Refill};
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::Preset;
use nandle_profile::OperationKind;
use nandle_terminal::args::{positive_bytes, positive_duration};
use nandle_units::parse_bytes;

use crate::target::TargetArgs;

/// Measure every combination of pattern, block size, group size and queue depth.
#[derive(Debug, Args)]
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
    /// Memory that reads of a real device go through, as through a database's pool; 0: as many buffers as requests are
    /// outstanding, which stay in the processor's cache
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "64MiB")]
    pub(crate) read_memory: u64,
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
    /// Parameter space of the preset.
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
