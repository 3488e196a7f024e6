use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use nandle_pages::{BLOCK_BYTES, PolicyKind};
use nandle_replay::Durability;
use nandle_target::TargetSpec;
use nandle_terminal::args::IoArg;
use nandle_terminal::args::percent;
use nandle_units::parse_bytes;

use crate::commands::trace::{SourceArgs, WritesArgs, power_of_two};

/// Replay a trace's page writes through page stores of several write policies, side by side.
///
/// Every policy gets a store and a device (or file) of its own and does the same work: the trace's writes in their order, as
/// fast as they go. On a real device the policies take turns, so that what disturbs one disturbs all. The final checkpoint, which
/// brings every page to its own place, is part of the time; then every written page is read back and compared.
///
/// A policy that can't take the work is left out, with the reason. When a store fails at work the others go on, their figures
/// are printed, and the program ends with 1.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle replay db.csv.zst --on model:mtron-16\n  nandle replay db.csv.zst --on /mnt/fast --limit 50000 --durability each\n  nandle replay db.csv.zst --on model:sd-card --policies direct,stable-ring --buffer 128MiB\n  nandle replay db.csv.zst --on model:nvme-tlc --policies direct,out-of-place --compressible 50%\n  nandle replay db.csv.zst --on model:mtron-16 --json > replay.json\n  nandle replay db.csv.zst --on model:mtron-16 --policies direct,out-of-place --fill 90% --passes 5\n  nandle replay db.csv.zst --on /mnt/fast --profile profile.json --policies direct,auto --repeats 5"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) writes: WritesArgs,
    /// Where to: a directory (each policy gets a test file in it, gone afterwards), a modelled drive, a file or block device whose
    /// contents may be lost
    #[arg(long, value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) on: TargetSpec,
    /// The policies, in the order of the table
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = PolicyKind::ALL)]
    pub(crate) policies: Vec<PolicyKind>,
    /// When a write must be durable: each before its client's next one, where the trace syncs, or at the end
    #[arg(long, value_name = "WHEN", default_value = "trace")]
    pub(crate) durability: DurabilityArg,
    /// Go through the trace so often, so that what only shows after a while is in the figures: cleaning, above all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) passes: u32,
    /// Run each policy so often, all of them in turns, on a real device: one run says little where others use it. The figures are those
    /// of the run with the median time, and the least and the greatest stand beside it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: u32,
    /// Write so much of each store's pages before the trace begins, untimed: a store that has been there for a while is full
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    pub(crate) fill: u8,
    /// Writes under way at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) queue_depth: u32,
    /// Size of the staging area of the policies that have one [default: the profile's focused area, or 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) buffer: Option<u64>,
    /// Size of a page: a write of the trace becomes a batch of so many of them
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page_bytes)]
    pub(crate) page: u64,
    /// Take what writing costs from this profile of the target: the decompositors choose by it, the ring's sweep takes its
    /// mapping unit, and auto begins with what it recommends
    #[arg(long, value_name = "PATH")]
    pub(crate) profile: Option<PathBuf>,
    /// How much of each page's contents compresses to nothing; the rest doesn't at all. Only out-of-place compresses
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    pub(crate) compressible: u8,
    /// Let out-of-place write its pages as they are
    #[arg(long)]
    pub(crate) no_compression: bool,
    /// Where the trace's addresses come to lie: compact puts the areas that are written side by side and leaves out what lies
    /// between them
    #[arg(long, value_name = "WHERE", default_value = "compact")]
    pub(crate) addresses: AddressesArg,
    /// Fold addresses beyond the target's end back into it, instead of refusing them
    #[arg(long)]
    pub(crate) wrap: bool,
    /// Leave the written pages unchecked at the end
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// Where the report goes
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
    /// How requests reach the device
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    pub(crate) io: IoArg,
    /// Go through the page cache instead of around it
    #[arg(long)]
    pub(crate) buffered: bool,
    /// The named file's contents may be lost; a file that doesn't exist is made, and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// The named block device's contents may be lost
    #[arg(long)]
    pub(crate) destroy_data: bool,
}

/// Page sizes that stores support.
pub(crate) const PAGES_BYTES: RangeInclusive<u64> = BLOCK_BYTES as u64..=64 << 10;

fn page_bytes(text: &str) -> Result<u64, String> {
    power_of_two(text, &PAGES_BYTES)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AddressesArg {
    /// Areas that are written side by side, distances within an area kept
    Compact,
    /// As the trace has them
    Keep,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DurabilityArg {
    /// Each write before its client's next one
    Each,
    /// Where the trace syncs
    Trace,
    /// At the end
    None,
}

impl From<DurabilityArg> for Durability {
    fn from(arg: DurabilityArg) -> Self {
        match arg {
            DurabilityArg::Each => Self::Each,
            DurabilityArg::Trace => Self::Trace,
            DurabilityArg::None => Self::None,
        }
    }
}
