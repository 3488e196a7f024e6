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

/// Compare write policies by replaying a trace's page writes
///
/// Each policy has a store of its own on a device or file of its own. All do the same work: the
/// trace's writes in their order, as fast as possible. On a real device the policies take turns, so
/// that disturbances affect all of them. The measured time includes the final checkpoint, which
/// writes every page to its own place. Afterwards every written page is read back and compared.
///
/// Policies that can't do the work are left out, with the reason. If a store fails, the others
/// continue, their figures are printed, and the exit code is 1.
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
    /// Target: a directory, a modelled drive, a file or a block device
    ///
    /// In a directory, each policy gets a test file, which is removed at the end. A file or block
    /// device loses its contents.
    #[arg(long, value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) on: TargetSpec,
    /// Policies to compare, in the order of the table
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = PolicyKind::ALL)]
    pub(crate) policies: Vec<PolicyKind>,
    /// Point at which a write must be durable
    #[arg(long, value_name = "WHEN", default_value = "trace")]
    pub(crate) durability: DurabilityArg,
    /// Number of passes through the trace
    ///
    /// Some costs, above all those of cleaning, appear only after a while.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) passes: u32,
    /// Runs of each policy, on a real device only
    ///
    /// The policies run in turns. Where other programs use the device, a single run says little.
    /// The figures are those of the run with the median time; the minimum and maximum are shown
    /// next to them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: u32,
    /// Share of each store's pages to write before the trace, untimed
    ///
    /// A store that has been in use for a while is full.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    pub(crate) fill: u8,
    /// Concurrent writes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) queue_depth: u32,
    /// Size of the staging area, for policies that have one [default: the profile's focused area,
    /// or 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) buffer: Option<u64>,
    /// Size of a page, a power of two from 4KiB to 64KiB
    ///
    /// Each write of the trace becomes a batch of pages.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page_bytes)]
    pub(crate) page: u64,
    /// Profile of the target, for the costs of writes
    ///
    /// The decompositors choose by these costs, the ring's sweep uses their mapping unit, and auto
    /// starts with the policy that the profile recommends.
    #[arg(long, value_name = "PATH")]
    pub(crate) profile: Option<PathBuf>,
    /// Share of each page that compresses to nothing
    ///
    /// The rest of the page doesn't compress. Only out-of-place compresses pages.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    pub(crate) compressible: u8,
    /// Write pages uncompressed under out-of-place
    #[arg(long)]
    pub(crate) no_compression: bool,
    /// Placement of the trace's addresses in the store
    #[arg(long, value_name = "WHERE", default_value = "compact")]
    pub(crate) addresses: AddressesArg,
    /// Fold addresses beyond the target's end back into it instead of refusing them
    #[arg(long)]
    pub(crate) wrap: bool,
    /// Skip the final check of the written pages
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
    /// I/O interface
    #[arg(long, value_name = "INTERFACE", default_value = "auto")]
    pub(crate) io: IoArg,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    pub(crate) buffered: bool,
    /// Allow the named file to be overwritten; a missing file is created and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Allow the named block device to be overwritten
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
    /// Place written areas side by side, without the gaps; keep distances within an area
    Compact,
    /// Keep the trace's addresses
    Keep,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DurabilityArg {
    /// Before the same client's next write
    Each,
    /// At the trace's syncs
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
