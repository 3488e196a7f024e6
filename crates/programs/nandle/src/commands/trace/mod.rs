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

/// Say what a block trace looks like to a drive, play traces, and convert them.
///
/// Reads CSV (`time_us,op,address,length`, and `latency_ns` where it is known), the text of blkparse, the text of perf script for `block:block_rq_issue`, fio's iolog
/// (versions 2 and 3), traces of MSR Cambridge, Alibaba, Tencent, SYSTOR '17, SPC, FIU, `DiskSim` and `MQSim`, and other columns
/// (--columns), each of them compressed by zstd or gzip or not.
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
    /// Say what a trace's page writes look like: rewrites, runs, skew, areas
    Stat(StatArgs),
    /// Write a trace in another format
    Convert(ConvertArgs),
    /// Play a trace's own requests on a target, and say how long they took
    ///
    /// Response times count from when a request was due, service times from when it was sent. What is due while as many are in
    /// flight as may be is held, and that is part of its response. A trace is gone through twice, so it can't be standard input.
    ///
    /// Writes are of bytes that don't compress. They go to a test file in a directory, to a modelled drive, or to what may be lost
    /// (--overwrite, --destroy-data); --reads-only plays the reads alone. Requests that fail are counted, and the program ends
    /// with 1.
    Play(Box<play::PlayArgs>),
}

/// A trace, and how it is read.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// The trace; - is standard input
    pub(crate) trace: PathBuf,
    /// The trace's format [default: recognised by its first lines]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// The trace's columns, counted from 1, with their units: time (s, ms, us, 100ns, ns), offset and bytes (bytes, sectors, KiB or a
    /// number of bytes), op (words; read0 where 0 reads and 1 writes, read1 where 1 reads), and perhaps latency and device; such as
    /// time=1:us,offset=4:sectors,bytes=5,op=3
    #[arg(long, value_name = "COLUMNS", conflicts_with = "format")]
    columns: Option<ColumnsArg>,
    /// Events of this device only: major,minor as the kernel numbers it, host.disk of an MSR trace, or a volume's number
    #[arg(long)]
    device: Option<String>,
    /// Count damaged lines and go on, instead of ending at the first
    #[arg(long)]
    skip_bad: bool,
}

/// How much of a trace is taken, by its writes.
#[derive(Debug, Args)]
pub(crate) struct WritesArgs {
    /// Read no more than this many writes of the trace, of which each may be several pages
    #[arg(long, value_name = "N", value_parser = at_least_1)]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
struct StatArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    writes: WritesArgs,
    /// Size of the pages that writes are cut into
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page_bytes)]
    page: u64,
    /// Where the report goes
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    writes: WritesArgs,
    /// The file to make; compressed by zstd when its name ends in .zst
    output: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    to: WrittenFormatArg,
    /// The file or device that fio's log is to name
    #[arg(long, value_name = "PATH", default_value = "/dev/null")]
    file: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    /// `time_us,op,address,length`, with `latency_ns` or without
    Csv,
    /// The text of blkparse
    Blkparse,
    /// The text of perf script for `block:block_rq_issue`
    PerfScript,
    /// fio's iolog, versions 2 and 3
    FioIolog,
    /// MSR Cambridge's CSV
    Msr,
    /// `DiskSim`'s validation traces, with response times
    #[value(name = "disksim")]
    DiskSim,
    /// Alibaba's block traces of 2020
    Alibaba,
    /// Tencent's block traces of 2018
    Tencent,
    /// The virtual desktops of SYSTOR '17
    #[value(name = "systor17")]
    Systor17,
    /// Traces of the Storage Performance Council, as `UMass` publishes them
    Spc,
    /// Traces of Florida International University
    Fiu,
    /// `DiskSim`'s ASCII traces: arrival in ms, device, sector, sectors, flags
    #[value(name = "disksim-ascii")]
    DiskSimAscii,
    /// `MQSim`'s traces: arrival in ns, device, sector, sectors, 0 for writes or 1 for reads
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

/// The formats that are written, too.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum WrittenFormatArg {
    /// `time_us,op,address,length`, and `latency_ns` where the trace tells it
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
