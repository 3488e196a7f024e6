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

/// Path by which a cube is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PathArg {
    /// Scan of the table's columns
    Scan,
    /// Scan of projections sorted by the cubes' columns (see `nandle table project`)
    Projection,
    /// Leaves of a covering index, page by page, as in the paper; building the indices of millions
    /// of rows takes minutes
    Btree,
}

/// Time at which an index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IndexArg {
    /// Built after loading
    Built,
    /// Built before loading, and grown month by month
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

/// Count the 69 flight cubes of the Dashboard paper
///
/// The cubes count diverted, cancelled and delayed flights by airline, destination, month, origin
/// and year. Scans run on this machine and bypass the page cache; their recording is then played on
/// the targets of --on. B-trees are only played.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  nandle cubes flights/ --only delay-airline,delay-airline-month\n  nandle cubes flights/ --on model:crucial-m4-256,model:regola-raid10 --paths scan,btree --index built,grown --report cubes.html"
)]
pub(crate) struct CubesArgs {
    /// Directory of a table of flights, or Parquet files of flights
    #[arg(required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Devices to play the recording on; may be repeated
    #[arg(long, value_name = "TARGET,…")]
    pub(super) on: Vec<String>,
    /// Paths by which cubes are computed
    #[arg(long, value_delimiter = ',', default_value = "scan")]
    pub(super) paths: Vec<PathArg>,
    /// Only these cubes, for example delay-airline-month
    #[arg(long, value_name = "CUBE,…", value_parser = names)]
    pub(super) only: Option<std::vec::Vec<String>>,
    /// Memory for reading and counting [default: 980MiB as in the paper, scaled by rows]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(super) memory: Option<u64>,
    /// Don't scale memory and device caches by rows
    ///
    /// With fewer rows than the paper's 70 million, the default memory and the caches of modelled
    /// devices are otherwise reduced in proportion.
    #[arg(long)]
    pub(super) unscaled: bool,
    /// Directory for scaled models [default: the report's or recording's, else the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "unscaled")]
    pub(super) scaled_models: Option<PathBuf>,
    /// Read strategy of scans: flexible, fixed-block, whole-group or one-by-one:N
    #[arg(long, value_name = "STRATEGY", default_value_t = Strategy::Flexible)]
    pub(super) reads: Strategy,
    /// Index of a B-tree: built after loading, or grown during it
    #[arg(long, value_delimiter = ',', default_value = "built,grown")]
    pub(super) index: Vec<IndexArg>,
    /// Page sizes of a B-tree
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "8KiB", value_parser = positive_bytes)]
    pub(super) page_size: Vec<u64>,
    /// Skip the prediction for this machine
    ///
    /// The run then starts without measuring the processor time of reads first.
    #[arg(long)]
    pub(super) no_prediction: bool,
    /// Directory for B-trees and for groups that exceed memory [default: the data's]
    #[arg(long, value_name = "DIR")]
    pub(super) temporary: Option<PathBuf>,
    /// Write the recording of the scans to this file
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Write an HTML report to this file
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// I/O interface for the files
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
