use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use nandle_target::TargetSpec;
use nandle_terminal::args::{bytes_of_at_least, positive_bytes};
use nandle_workloads::{Operator, Workload};

use super::sweep::Sweep;
use crate::commands::rows::{Cluster, cluster};

/// With less nothing can be sorted or joined.
const MEMORY_BYTES_MIN: u64 = 64 << 10;

/// Sort or join generated rows with input, temporary data and output on chosen devices
///
/// The rows are those of a well-known experiment (Lee, Moon, Park, Kim, Kim, SIGMOD 2008): 2
/// million rows of 100 bytes and 2 MB of memory. For a join there are two such tables with the same
/// keys. Input and output are sequential, 4 requests of 1 MiB at a time. The work between is that
/// of `nandle sort` and `nandle join`. Every result is checked.
///
/// A target that is named several times, or for the temporary data only, is one device with an area
/// for each part. All targets must be modelled, or all real, because they share a clock. On
/// modelled drives time is virtual and excludes processor time. A modelled input stores no
/// contents: its rows are generated from the seed while its reads take their time.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle workload sort --temporary model:samsung-mcaqe32\n  nandle workload join --temporary model:x25-e-64 --input model:barracuda-7200.10\n  nandle workload sort --temporary model:barracuda-7200.10 --sweep cluster=2KiB..128KiB\n  nandle workload sort --temporary /mnt/fast --profile fast.json --rows 500000 --memory 4MiB\n  nandle workload sort --temporary model:nvme-tlc --sweep memory=2MiB..64MiB --report sort.html"
)]
pub(crate) struct WorkloadArgs {
    /// Operator to run on the rows
    #[arg(value_name = "OPERATOR")]
    pub(super) operator: OperatorArg,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    /// Target for the input [default: that of the temporary data]
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) input: Option<TargetSpec>,
    /// Target for temporary data: a directory, a file, a block device or a modelled drive
    ///
    /// In a directory, a test file is created and removed at the end. A file or block device loses
    /// its contents.
    #[arg(long, short = 'T', value_name = "TARGET", default_value = ".", value_parser = target())]
    pub(super) temporary: TargetSpec,
    /// Target for the output [default: that of the temporary data]
    #[arg(long, short, value_name = "TARGET", value_parser = target())]
    pub(super) output: Option<TargetSpec>,
    /// Profile of the device for temporary data, from `nandle probe` [default: measured on a
    /// modelled drive, assumed for a real one]
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
    /// Run once per power of two in a range: cluster=2KiB..128KiB, memory=2MiB..64MiB, or both
    #[arg(long, value_name = "WHAT=FROM..TO")]
    pub(super) sweep: Vec<Sweep>,
}

/// The rows, and how they are sorted or joined: what `workload` and `place` share.
#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    /// Rows of each table
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Length of a row
    #[arg(long, value_name = "SIZE", default_value = "100", value_parser = positive_bytes)]
    row_bytes: u64,
    /// Length of a key, at least 8; all keys are distinct
    #[arg(long, value_name = "SIZE", default_value = "10", value_parser = positive_bytes)]
    key_bytes: u64,
    /// Memory of the sort or join, at least 64KiB
    ///
    /// The transfer of rows from the input and to the output takes another 9 MiB.
    #[arg(long, short = 'S', value_name = "SIZE", default_value = "2MiB", value_parser = memory)]
    memory: u64,
    /// Size of a read of temporary data: auto or a size
    ///
    /// auto derives it from measured figures of the device.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = cluster)]
    cluster: Cluster,
    /// Seed of the generated rows
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Allow the named file to be overwritten; a missing file is created and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Allow the named block device to be overwritten
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
}

/// Operator on the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperatorArg {
    /// External sort
    Sort,
    /// Hash join of two tables
    Join,
}

impl From<OperatorArg> for Operator {
    fn from(arg: OperatorArg) -> Self {
        match arg {
            OperatorArg::Sort => Self::Sort,
            OperatorArg::Join => Self::Join,
        }
    }
}

impl RowArgs {
    pub(crate) fn workload(&self, operator: OperatorArg) -> Workload {
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Workload {
            operator: operator.into(),
            rows: self.rows,
            row_bytes: in_memory(self.row_bytes),
            key_bytes: in_memory(self.key_bytes),
            memory_bytes: in_memory(self.memory),
            cluster_bytes: self.cluster.bytes(),
            seed: self.seed,
        }
    }
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "64KiB")
}

/// Parser of a target.
pub(crate) fn target() -> impl clap::builder::TypedValueParser<Value = TargetSpec> {
    OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text))
}
