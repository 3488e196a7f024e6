use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use nandle_io::Nanos;
use nandle_replay::play::{PlayAddresses, Selection, Timing};
use nandle_session::Access;
use nandle_target::TargetSpec;
use nandle_terminal::args::{IoArg, positive_bytes, positive_duration};

use crate::commands::trace::{SourceArgs, at_least_1};

/// What `nandle trace play` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle trace play db.csv.zst --on model:nvme-tlc --addresses compact\n  nandle trace play db.csv.zst --on /mnt/fast --addresses compact --timing rate:2000\n  nandle trace play db.csv.zst --on /dev/sdb --reads-only --compare\n  nandle trace play hm_0.csv --device hm.0 --on model:savvio-15k --compare --report hm.html\n  nandle trace play atlas_III.trace --on model:atlas-iii --timing think --compare\n                                     how near is the model to the disk?"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Play no more than this many requests
    #[arg(long, value_name = "N", value_parser = at_least_1)]
    requests: Option<u64>,
    /// Where to: a directory (a test file is made in it, and gone afterwards), a modelled drive, an array of them, a file or block
    /// device
    #[arg(long, value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(super) on: TargetSpec,
    /// When requests are sent: asis (at the trace's times, whether or not the target keeps up), think (one at a time, each as
    /// long after the one before has completed as in the trace), closed:N (N in flight), rate:R (R requests a second)
    #[arg(long, value_name = "WHEN", default_value_t = Timing::AsIs)]
    pub(super) timing: Timing,
    /// The most requests in flight with asis and rate
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    queue_depth: u32,
    /// Set the response times beside those that the trace itself has recorded
    #[arg(long)]
    pub(super) compare: bool,
    /// Leave out what isn't a read, so that what is there stays as it is
    #[arg(long)]
    pub(super) reads_only: bool,
    /// Where the trace's addresses come to lie: compact puts the areas of 1MiB that are read or written side by side
    #[arg(long, value_name = "WHERE", default_value = "keep")]
    pub(super) addresses: AddressesArg,
    /// Fold addresses beyond the target's end back into it, instead of refusing them
    #[arg(long)]
    pub(super) wrap: bool,
    /// Size of the test file in a directory [default: what the trace's addresses need]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(super) file_size: Option<u64>,
    /// Where the report goes
    #[arg(long, value_name = "PATH")]
    pub(super) report: Option<PathBuf>,
    /// How requests reach the device
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    io: IoArg,
    /// Go through the page cache instead of around it
    #[arg(long)]
    buffered: bool,
    /// Give a device up that has been silent for this long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_duration)]
    patience: Nanos,
    /// The named file's contents may be lost; a file that doesn't exist is made, and kept
    #[arg(long)]
    overwrite: bool,
    /// The named block device's contents may be lost
    #[arg(long)]
    destroy_data: bool,
}

impl PlayArgs {
    pub(super) fn selection(&self) -> Selection {
        Selection { reads_only: self.reads_only, requests_max: self.requests }
    }

    /// Requests in flight at most.
    pub(super) fn in_flight_max(&self) -> u32 {
        self.timing.in_flight_max(self.queue_depth)
    }

    /// Access to the target, with a test file of `test_file_bytes` in a directory.
    pub(super) fn access(&self, test_file_bytes: u64) -> Access {
        Access {
            io: self.io.into(),
            direct: !self.buffered,
            test_file_bytes,
            overwrite: self.overwrite,
            destroy_data: self.destroy_data,
            patience: self.patience,
            ..Access::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AddressesArg {
    /// As the trace has them
    Keep,
    /// Areas that are read or written side by side, distances within an area kept
    Compact,
}

impl From<AddressesArg> for PlayAddresses {
    fn from(arg: AddressesArg) -> Self {
        match arg {
            AddressesArg::Keep => Self::Keep,
            AddressesArg::Compact => Self::Compact,
        }
    }
}
