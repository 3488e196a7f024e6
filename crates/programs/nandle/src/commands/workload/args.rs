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

/// Sort or join rows that a seed makes, with input, temporary data and output on devices of your choice, real or modelled.
///
/// The rows are those of a well-known experiment (Lee, Moon, Park, Kim, Kim, SIGMOD 2008): 2 million of 100 bytes in 2 MB of memory; of
/// a join two such tables with the same keys. The input is read and the result written sequentially, 4 requests of 1 MiB at a time; what
/// lies between is what `nandle sort` and `nandle join` do. Every result is checked.
///
/// A target that is named several times, or only for the temporary data, is one device with an area for each part. All targets are
/// modelled, or all real: there is one clock. On modelled drives time is virtual, and the processor's time isn't in it. A modelled input
/// keeps no contents: its rows are made from the seed while its reads take their time.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle workload sort --temporary model:samsung-mcaqe32\n  nandle workload join --temporary model:x25-e-64 --input model:barracuda-7200.10\n  nandle workload sort --temporary model:barracuda-7200.10 --sweep cluster=2KiB..128KiB\n  nandle workload sort --temporary /mnt/fast --profile fast.json --rows 500000 --memory 4MiB\n  nandle workload sort --temporary model:nvme-tlc --sweep memory=2MiB..64MiB --report sort.html"
)]
pub(crate) struct WorkloadArgs {
    /// What is done to the rows
    #[arg(value_name = "OPERATOR")]
    pub(super) operator: OperatorArg,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    /// Where the input lies [default: where the temporary data do]
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) input: Option<TargetSpec>,
    /// Where the temporary data lie: a directory (a test file is made in it, gone afterwards), a file or block device whose contents may
    /// be lost, a modelled drive [default: this directory]
    #[arg(long, short = 'T', value_name = "TARGET", default_value = ".", value_parser = target())]
    pub(super) temporary: TargetSpec,
    /// Where the output lies [default: where the temporary data do]
    #[arg(long, short, value_name = "TARGET", value_parser = target())]
    pub(super) output: Option<TargetSpec>,
    /// The profile of the temporary data's device, as `nandle probe` writes it [default: a modelled one is asked in virtual time]
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
    /// Run once for each power of two from one size to another: cluster=2KiB..128KiB, memory=2MiB..64MiB, or both
    #[arg(long, value_name = "WHAT=FROM..TO")]
    pub(super) sweep: Vec<Sweep>,
}

/// The rows, and how they are sorted or joined: what `workload` and `place` share.
#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    /// Rows of each table
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Bytes of a row
    #[arg(long, value_name = "SIZE", default_value = "100", value_parser = positive_bytes)]
    row_bytes: u64,
    /// Bytes of its key, at least 8: every key is another
    #[arg(long, value_name = "SIZE", default_value = "10", value_parser = positive_bytes)]
    key_bytes: u64,
    /// Memory of the sort or join; what carries rows from the input and to the output takes 9 MiB beside it
    #[arg(long, short = 'S', value_name = "SIZE", default_value = "2MiB", value_parser = memory)]
    memory: u64,
    /// What one read of temporary data brings: auto, which follows from what the device was measured to do, or a size
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = cluster)]
    cluster: Cluster,
    /// What the rows follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The named file's contents may be lost; a file that doesn't exist is made, and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// The named block device's contents may be lost
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// Where the report goes
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperatorArg {
    /// An external sort
    Sort,
    /// A hash join of two tables
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
