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
    /// Memory for all of it
    #[arg(long, short = 'S', value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(crate) memory: u64,
    /// Where temporary data go: a directory (a file without a name), a block device, a modelled drive … [default: the directory of the
    /// output, or this one]
    #[arg(long, short = 'T', value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) temporary: Option<TargetSpec>,
    /// Temporary data may take so much [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    pub(crate) space: Option<u64>,
    /// The named block device's contents may be lost
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// The profile of the temporary data's device, as `nandle probe` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// What one read of temporary data brings, in the place of what follows from the profile: auto, or a size
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = cluster)]
    cluster: Cluster,
    /// Threads [default: as many as there are processors, with 16 MiB of memory for each at least; one on a modelled drive, and where
    /// the order of equal records decides which of them a sort keeps]
    #[arg(long, value_name = "THREADS", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Say what was predicted, and what it was
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
