use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use nandle_target::TargetSpec;
use nandle_terminal::args::{bytes_of_at_least, positive_bytes};

/// With less there is no room for rows besides the input and output buffers.
const MEMORY_BYTES_MIN: u64 = 1 << 20;

/// Memory and temporary data.
#[derive(Debug, Args)]
pub(crate) struct SpillArgs {
    /// Memory for the whole command, at least 1MiB
    #[arg(long, short = 'S', value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(crate) memory: u64,
    /// Target for temporary data [default: the directory of the output, or the current one]
    ///
    /// A directory (an unnamed file is created in it), a block device, a modelled drive or an
    /// array.
    #[arg(long, short = 'T', value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) temporary: Option<TargetSpec>,
    /// Maximum size of temporary data [default: the free space]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(crate) space: Option<u64>,
    /// Allow the named block device to be overwritten
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// Profile of the device for temporary data, from `nandle probe`
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Size of a read of temporary data: auto or a size
    ///
    /// auto derives it from the profile, or from assumed costs if there is none.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = cluster)]
    cluster: Cluster,
    /// Number of threads, 1 to 256 [default: one per processor, at most one per 16 MiB of memory]
    ///
    /// One thread is used on a modelled drive, and if the order of equal records decides which of
    /// them a sort keeps.
    #[arg(long, value_name = "THREADS", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print predicted and actual figures
    #[arg(long)]
    pub(crate) explain: bool,
}

impl SpillArgs {
    /// Bytes per read, if the user set them.
    pub(crate) fn cluster_bytes(&self) -> Option<usize> {
        self.cluster.bytes()
    }
}

/// Bound on threads: more would wait for each other.
const THREADS_MAX: usize = 256;

fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|threads| (1..=THREADS_MAX).contains(threads))
        .ok_or_else(|| format!("expected 1 to {THREADS_MAX}"))
}

/// Bytes per read of temporary data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cluster {
    /// Derived from the device.
    Auto,
    Bytes(u64),
}

impl Cluster {
    /// Returns `None` for `auto`.
    pub(crate) fn bytes(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Bytes(bytes) => Some(usize::try_from(bytes).unwrap_or(usize::MAX)),
        }
    }
}

/// Parses `auto` or a size.
pub(crate) fn cluster(text: &str) -> Result<Cluster, String> {
    if text == "auto" { Ok(Cluster::Auto) } else { positive_bytes(text).map(Cluster::Bytes) }
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "1MiB")
}
