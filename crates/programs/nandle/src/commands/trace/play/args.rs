use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use nandle_io::Nanos;
use nandle_replay::play::{PlayAddresses, Selection, Timing};
use nandle_session::Access;
use nandle_target::TargetSpec;
use nandle_terminal::args::{IoArg, positive_bytes, positive_duration};

use crate::commands::trace::{SourceArgs, at_least_1};

/// Arguments of `nandle trace play`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle trace play db.csv.zst --on model:nvme-tlc --addresses compact\n  nandle trace play db.csv.zst --on /mnt/fast --addresses compact --timing rate:2000\n  nandle trace play db.csv.zst --on /dev/sdb --reads-only --compare\n  nandle trace play hm_0.csv --device hm.0 --on model:savvio-15k --compare --report hm.html\n  nandle trace play atlas_III.trace --on model:atlas-iii --timing think --compare\n                                     compare the model with the disk"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Maximum number of requests to play
    #[arg(long, value_name = "N", value_parser = at_least_1)]
    requests: Option<u64>,
    /// Target: a directory, a modelled drive, an array of drives, a file or a block device
    ///
    /// In a directory, a test file is created and removed at the end.
    #[arg(long, value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(super) on: TargetSpec,
    /// Time at which requests are sent: asis, think, closed:N or rate:R
    ///
    /// asis sends them at the trace's times, even if the target can't keep up. think sends one at a
    /// time, each as long after the previous completion as in the trace. closed:N keeps N requests
    /// in flight. rate:R sends R requests per second.
    #[arg(long, value_name = "WHEN", default_value_t = Timing::AsIs)]
    pub(super) timing: Timing,
    /// Maximum number of requests in flight, with asis and rate
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    queue_depth: u32,
    /// Compare response times with those recorded in the trace
    #[arg(long)]
    pub(super) compare: bool,
    /// Play only reads and leave the target's contents unchanged
    #[arg(long)]
    pub(super) reads_only: bool,
    /// Placement of the trace's addresses on the target
    #[arg(long, value_name = "WHERE", default_value = "keep")]
    pub(super) addresses: AddressesArg,
    /// Fold addresses beyond the target's end back into it instead of refusing them
    #[arg(long)]
    pub(super) wrap: bool,
    /// Size of the test file in a directory [default: as large as the trace's addresses need]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(super) file_size: Option<u64>,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH")]
    pub(super) report: Option<PathBuf>,
    /// I/O interface
    #[arg(long, value_name = "INTERFACE", default_value = "auto")]
    io: IoArg,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    buffered: bool,
    /// Give up on a device after this long without a completed request
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_duration)]
    patience: Nanos,
    /// Allow the named file to be overwritten; a missing file is created and kept
    #[arg(long)]
    overwrite: bool,
    /// Allow the named block device to be overwritten
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
    /// Keep the trace's addresses
    Keep,
    /// Place areas of 1MiB that are read or written side by side; keep distances within an area
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
