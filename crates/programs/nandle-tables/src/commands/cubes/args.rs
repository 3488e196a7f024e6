use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nandle_flights::{CubeQuery, IndexKind};
use nandle_reads::Strategy;
use nandle_target::TargetSpec;
use nandle_terminal::args::{IoArg, bytes_of_at_least, names, positive_bytes};
use nandle_terminal::result_file::{self, RECORDING, REPORT};

use super::rows::RowSource;
use crate::costs::ProfileArgs;
use crate::error::CliError;

/// Counting takes 16 MiB, and reads a quarter of all memory.
pub(super) const MEMORY_BYTES_MIN: u64 = 32 << 20;
/// Memory in the paper.
const MEMORY_BYTES_USUAL: u64 = 980 << 20;

/// How a cube is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PathArg {
    /// From the table's columns, counted
    Scan,
    /// From projections of the cubes' columns, sorted by them: nearly the cubes themselves (`nandle table project` makes them)
    Projection,
    /// From the leaves of an index that covers the query, one page after the other, as in the paper; of millions of rows its indices take
    /// minutes to make
    Btree,
}

/// When an index is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IndexArg {
    /// After loading
    Built,
    /// Before it, rows arriving month by month
    Grown,
}

impl From<IndexArg> for IndexKind {
    fn from(arg: IndexArg) -> Self {
        match arg {
            IndexArg::Built => Self::Built,
            IndexArg::Grown => Self::Grown,
        }
    }
}

/// Count the 69 cubes of the Dashboard paper: diverted, cancelled and delay by airline, destination, month, origin and year.
///
/// The scan runs here, past the page cache. On the targets of --on the recording of that run is played; B-trees are played alone.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  nandle cubes flights/ --only delay-airline,delay-airline-month\n  nandle cubes flights/ --on model:crucial-m4-256,model:regola-raid10 --paths scan,btree --index built,grown --report cubes.html"
)]
pub(crate) struct CubesArgs {
    /// A table's directory, or Parquet files of flights
    #[arg(required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Devices on which the recording is played as well; may be given several times
    #[arg(long, value_name = "TARGET,…")]
    pub(super) on: Vec<String>,
    /// How cubes are made
    #[arg(long, value_delimiter = ',', default_value = "scan")]
    pub(super) paths: Vec<PathArg>,
    /// These cubes alone, as delay-airline-month
    #[arg(long, value_name = "CUBE,…", value_parser = names)]
    pub(super) only: Option<std::vec::Vec<String>>,
    /// Memory for reading and counting [default: 980MiB, the paper's, scaled as its drives are]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(super) memory: Option<u64>,
    /// With fewer rows than the paper's 70 million leave the memory, and the caches of modelled devices, as they are: otherwise both are
    /// scaled by the rows
    #[arg(long)]
    pub(super) unscaled: bool,
    /// Where scaled models are written [default: beside the report or the recording, or else here]
    #[arg(long, value_name = "DIR", conflicts_with = "unscaled")]
    pub(super) scaled_models: Option<PathBuf>,
    /// How a scan's wants become requests: flexible, fixed-block, whole-group or one-by-one:N
    #[arg(long, value_name = "HOW", default_value_t = Strategy::Flexible)]
    pub(super) reads: Strategy,
    /// When a B-tree's index is made
    #[arg(long, value_delimiter = ',', default_value = "built,grown")]
    pub(super) index: Vec<IndexArg>,
    /// Pages of a B-tree
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "8KiB", value_parser = positive_bytes)]
    pub(super) page_size: Vec<u64>,
    /// Don't predict what cubes take here: the processor time that reading takes is then not measured first
    #[arg(long)]
    pub(super) no_prediction: bool,
    /// Where B-trees are made and groups go that have no room in memory [default: beside the data]
    #[arg(long, value_name = "DIR")]
    pub(super) temporary: Option<PathBuf>,
    /// Where the scans' recording is written
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Where a page is written with all of it
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// How requests reach the files
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) io: IoArg,
    #[command(flatten)]
    pub(super) profile: ProfileArgs,
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "32MiB")
}

impl CubesArgs {
    /// Memory option, or the paper's.
    pub(super) fn memory(&self) -> u64 {
        self.memory.unwrap_or(MEMORY_BYTES_USUAL)
    }

    pub(super) fn queries(&self) -> Result<Vec<CubeQuery>, CliError> {
        let Some(only) = &self.only else { return Ok(CubeQuery::all()) };
        let queries = only.iter().map(|name| name.parse());
        queries.collect::<Result<_, _>>().map_err(|error| CliError::usage(format!("--only: {error}")))
    }

    /// Sources that are really read.
    pub(super) fn sources(&self) -> Vec<RowSource> {
        let paths = [(PathArg::Scan, RowSource::Table), (PathArg::Projection, RowSource::Projections)];
        paths.into_iter().filter(|(path, _)| self.paths.contains(path)).map(|(_, source)| source).collect()
    }

    /// Refuses result files that can't be written or hold something else.
    pub(super) fn check_results(&self) -> Result<(), CliError> {
        if let Some(path) = &self.record {
            result_file::check(path, &RECORDING)?;
        }
        if let Some(path) = &self.report {
            result_file::check(path, &REPORT)?;
        }
        Ok(())
    }

    pub(super) fn targets(&self) -> Result<Vec<TargetSpec>, CliError> {
        let mut names = Vec::new();
        for list in &self.on {
            let mut rest = list.as_str();
            // An array takes everything after it.
            while let Some((name, others)) = rest.split_once(',').filter(|_| !rest.starts_with("raid")) {
                names.push(name);
                rest = others;
            }
            names.push(rest);
        }
        let parse = |name: &str| name.parse().map_err(|error| CliError::usage(format!("--on: {error}")));
        names.into_iter().map(parse).collect()
    }
}
