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

/// Measure all combinations of pattern, block size, group size and queue depth
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle sweep . --plan\n  nandle sweep . --block-sizes 2K,32K,1M --group-sizes 1,4,16 --queue-depths 1,4,32 --output sweep.csv\n  nandle sweep . --operation mixed:70 --patterns random --time-per-run 5s --json\n  nandle sweep . --resume sweep.json --output sweep.json\n  nandle sweep model:mtron-16 --operation write --patterns sequential,random,focused:8MiB,ordered:2\n  nandle sweep model:x25-m-g2 --preset diat --bytes-per-run 64MiB --output diat.csv"
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Parameter space of a paper; the options below override it
    #[arg(long, value_name = "PAPER")]
    pub(crate) preset: Option<PresetArg>,
    /// Request sizes [default: powers of two from 4KiB to 1MiB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = parse_bytes)]
    pub(crate) block_sizes: Vec<u64>,
    /// Consecutive blocks per random position, for the random pattern only [default: 1]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub(crate) group_sizes: Vec<u64>,
    /// Numbers of outstanding requests [default: 1,4,16,32,64]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub(crate) queue_depths: Vec<u32>,
    /// Access patterns: random, sequential, focused:SIZE, partitioned:STREAMS, ordered:STRIDE,
    /// zipf:SKEW [default: random,sequential]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(crate) patterns: Vec<PatternSpec>,
    /// Operations, each with its own cells: read, write, mixed:PERCENT (percentage of reads)
    /// [default: read]
    #[arg(long, value_name = "OPERATIONS", value_delimiter = ',')]
    pub(crate) operation: Vec<OperationKind>,
    /// End each run after this many bytes
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(crate) bytes_per_run: Option<u64>,
    /// End each run after this time, virtual for a modelled drive [default: 2s, unless
    /// --bytes-per-run is given]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) time_per_run: Option<Nanos>,
    /// Replacement of completed requests
    #[arg(long, value_name = "MODE", default_value = "exact", conflicts_with = "rate")]
    pub(crate) refill: RefillArg,
    /// Send this many requests per second, even if the device falls behind
    ///
    /// Latency counts from the scheduled time. The queue depth limits the outstanding requests.
    #[arg(long, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,
    /// Distribution of the requests of --rate over time
    #[arg(long, default_value = "poisson", requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,
    /// Submitting threads, which share the queue depth; only 1 for a modelled drive
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: u32,
    /// Memory that reads of a real device cycle through, like a database's buffer pool
    ///
    /// With 0 there is one buffer per outstanding request, and the buffers stay in the processor's
    /// cache.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "64MiB")]
    pub(crate) read_memory: u64,
    /// Print the runs, their duration and the bytes written; run nothing
    ///
    /// Writes to a test file for one second, to estimate the time for the whole file.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Save the results to this file (.csv or .json) after each cell
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Skip the cells that are in this file (.csv or .json), and add the others to it
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// Output format [default: table on a terminal, otherwise csv]
    #[arg(long)]
    pub(crate) format: Option<FormatArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PresetArg {
    /// Random reads in groups, and sequential reads (Baumann et al., 2010)
    Diat,
    /// Sequential and random reads and writes at depths 32 and 1 (Gottstein et al., 2010)
    Flashydb,
    /// Sequential and random reads and writes over record sizes, one request at a time (Regola et
    /// al., 2012)
    Iozone,
    /// Focused, partitioned and ordered addresses (Bouganim et al., CIDR 2009)
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
    /// At once, so the queue is always full
    Exact,
    /// After up to a quarter of the queue has completed, for less processor time
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
    /// Independent arrivals with exponentially distributed intervals
    Poisson,
    /// Arrivals at equal intervals
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
