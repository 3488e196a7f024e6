//! `nandle trace`.

mod convert;
mod fit;
mod meaning;
mod play;
mod source;
mod stat;

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use nandle_terminal::args::Common;
use nandle_terminal::result_file;
use nandle_trace::{Columns, Format, InvalidColumns};
use nandle_units::{format_bytes, parse_bytes};

use crate::error::CliError;

pub(crate) use self::fit::{Fit, remark};
pub(crate) use self::source::{reader, remarks_of_reading};

pub(crate) fn run(args: &TraceArgs, common: Common) -> Result<(), CliError> {
    match &args.command {
        TraceCommand::Stat(args) => stat::run(args, common),
        TraceCommand::Convert(args) => convert::run(args, common),
        TraceCommand::Play(args) => play::run(args, common),
    }
}

/// Describe, convert and play block traces
///
/// Reads CSV (`time_us,op,address,length`, optionally with `latency_ns`), text of blkparse, text of
/// perf script for `block:block_rq_issue`, fio's iolog (versions 2 and 3), and traces of MSR
/// Cambridge, Alibaba, Tencent, SYSTOR '17, SPC, FIU, DiskSim and MQSim. For other columns, use
/// --columns. Traces may be compressed with zstd or gzip.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sudo nandle capture /var/lib/postgresql -o db.csv.zst\n  perf record -e block:block_rq_issue -a -- sleep 60 && perf script | nandle trace convert - db.csv.zst\n  blktrace -d /dev/sdb -w 60 -o - | blkparse -i - | nandle trace convert - db.csv.zst\n  fio job.fio --write_iolog=job.log && nandle trace stat job.log\n  nandle trace stat db.csv.zst\n  nandle trace stat hm_0.csv.gz\n  nandle trace stat volumes.csv --format alibaba --device 419\n  nandle trace stat mine.csv --columns time=1:us,offset=4:sectors,bytes=5,op=3\n  nandle trace stat db.csv.zst --page 16KiB --json\n  nandle trace play db.csv.zst --on model:nvme-tlc --addresses compact\n  nandle trace convert db.csv.zst db.iolog --to fio-iolog --file /dev/sdb"
)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Describe a trace's page writes: rewrites, runs, skew, areas
    Stat(StatArgs),
    /// Convert a trace to another format
    Convert(ConvertArgs),
    /// Play a trace's requests on a target and measure their times
    ///
    /// Response times count from when a request was due, service times from when it was sent. A
    /// request that is due while the queue is full is held; this wait is part of its response time.
    /// The trace is read twice, so it can't be standard input.
    ///
    /// Written data doesn't compress. Writes go to a test file in a directory, to a modelled drive,
    /// or to a file or block device that may be overwritten (--overwrite, --destroy-data). With
    /// --reads-only, only reads are played. If requests fail, they are counted and the exit code is
    /// 1.
    Play(Box<play::PlayArgs>),
}

/// A trace and how to read it.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Trace to read; - is standard input
    pub(crate) trace: PathBuf,
    /// Format of the trace [default: detected from its first lines]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// Columns of the trace, such as time=1:us,offset=4:sectors,bytes=5,op=3
    ///
    /// Columns are numbered from 1. Required: time (s, ms, us, 100ns or ns), offset and bytes
    /// (bytes, sectors, KiB or a number of bytes), and op (words; read0 if 0 is a read and 1 a
    /// write, read1 if 1 is a read). Optional: latency (units as for time) and device.
    #[arg(long, value_name = "COLUMNS", conflicts_with = "format")]
    columns: Option<ColumnsArg>,
    /// Read only events of this device
    ///
    /// Format: major,minor as in the kernel, host.disk of an MSR trace, or the number of a volume.
    #[arg(long)]
    device: Option<String>,
    /// Skip and count damaged lines instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
}

/// Limit on the writes to read.
#[derive(Debug, Args)]
pub(crate) struct WritesArgs {
    /// Maximum number of writes to read
    ///
    /// A write may span several pages.
    #[arg(long, value_name = "N", value_parser = at_least_1)]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
struct StatArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    writes: WritesArgs,
    /// Size of the pages into which writes are divided
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page_bytes)]
    page: u64,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    writes: WritesArgs,
    /// File to create; compressed with zstd if its name ends in .zst
    output: PathBuf,
    /// Format to write
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    to: WrittenFormatArg,
    /// File or device named in fio's log
    #[arg(long, value_name = "PATH", default_value = "/dev/null")]
    file: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    /// `time_us,op,address,length`, optionally with `latency_ns`
    Csv,
    /// Text of blkparse
    Blkparse,
    /// Text of perf script for `block:block_rq_issue`
    PerfScript,
    /// fio's iolog, versions 2 and 3
    FioIolog,
    /// CSV of MSR Cambridge
    Msr,
    /// Validation traces of DiskSim, with response times
    #[value(name = "disksim")]
    DiskSim,
    /// Block traces of Alibaba, 2020
    Alibaba,
    /// Block traces of Tencent, 2018
    Tencent,
    /// Virtual desktops of SYSTOR '17
    #[value(name = "systor17")]
    Systor17,
    /// Traces of the Storage Performance Council, as published by UMass
    Spc,
    /// Traces of Florida International University
    Fiu,
    /// ASCII traces of DiskSim: arrival in ms, device, sector, sectors, flags
    #[value(name = "disksim-ascii")]
    DiskSimAscii,
    /// Traces of MQSim: arrival in ns, device, sector, sectors, 0 for writes or 1 for reads
    #[value(name = "mqsim")]
    MqSim,
}

/// Columns and their origin on the command line.
#[derive(Debug, Clone)]
pub(crate) struct ColumnsArg {
    columns: Columns,
    text: String,
}

impl FromStr for ColumnsArg {
    type Err = InvalidColumns;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self { columns: text.parse()?, text: text.to_owned() })
    }
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Self {
        match arg {
            FormatArg::Csv => Self::Csv,
            FormatArg::Blkparse => Self::Blkparse,
            FormatArg::PerfScript => Self::PerfScript,
            FormatArg::FioIolog => Self::FioIolog,
            FormatArg::Msr => Self::Msr,
            FormatArg::DiskSim => Self::DiskSim,
            FormatArg::Alibaba => Self::Alibaba,
            FormatArg::Tencent => Self::Tencent,
            FormatArg::Systor17 => Self::Systor17,
            FormatArg::Spc => Self::Spc,
            FormatArg::Fiu => Self::Fiu,
            FormatArg::DiskSimAscii => Self::DiskSimAscii,
            FormatArg::MqSim => Self::MqSim,
        }
    }
}

/// Formats that can be written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum WrittenFormatArg {
    /// `time_us,op,address,length`, with `latency_ns` if the trace has latencies
    Csv,
    /// fio's iolog, version 3
    FioIolog,
}

/// Refuses a path at which no trace can be created.
pub(crate) fn check_new(path: &Path) -> Result<(), CliError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(CliError::usage(format!(
            "{}: something of that name is there already, and no trace is written over; name another file, or remove it first",
            path.display()
        )));
    }
    Ok(result_file::check_writable(path)?)
}

/// Parses a positive count.
pub(super) fn at_least_1(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "expected a whole number of at least 1".into())
}

/// Page sizes, from a sector up.
const PAGES_BYTES: RangeInclusive<u64> = 512..=1 << 20;

fn page_bytes(text: &str) -> Result<u64, String> {
    power_of_two(text, &PAGES_BYTES)
}

/// Parses a power of two within `range`.
pub(crate) fn power_of_two(text: &str, range: &RangeInclusive<u64>) -> Result<u64, String> {
    let bytes = parse_bytes(text).ok().filter(|bytes| range.contains(bytes) && bytes.is_power_of_two());
    bytes.ok_or_else(|| {
        let [least, most] = [range.start(), range.end()].map(|bytes| format_bytes(*bytes));
        format!("a page has a power of two of bytes, from {least} to {most}, such as 8KiB")
    })
}
