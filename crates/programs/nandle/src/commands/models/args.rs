use std::path::PathBuf;

use clap::{Args, Subcommand};
use nandle_terminal::args::{percent, positive_bytes};

use super::wear::Wear;

/// List, show, export and age modelled drives
///
/// A modelled drive is a target like any other: model:NAME, or model:PATH.toml for your own.
///
/// model:NAME:state=… sets its first state: new (never written), filled (written once from start to
/// end; the default), 70% (filled to that extent), or a FILE written by `nandle models age`.
///
/// model:NAME:faults=FILE injects faults. FILE is TOML with `[[fault]]` tables, each with a kind
/// such as `kind = "failed-read"` and a frequency `per_million = N`. The error for an unknown
/// kind lists all kinds.
///
/// In these paths, write a backslash before each colon, comma and asterisk.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle models\n  nandle models show x25-m-g2\n  nandle probe model:x25-m-g2:state=new\n  nandle models age x25-e-64 --fill 70% --write random:64GiB --output aged.zst && nandle sweep model:x25-e-64:state=aged.zst --operation write\n  nandle models export x25-m-g2 > mine.toml && nandle probe model:mine.toml"
)]
pub(crate) struct ModelsArgs {
    /// Action [default: list]
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the modelled drives and arrays
    List,
    /// Show the properties of a model
    Show {
        /// Name from the list, or your own file (PATH.toml)
        name: String,
    },
    /// Print the parameters of a model as TOML, with their sources
    Export {
        /// Name from the list, or your own file (PATH.toml)
        name: String,
    },
    Age(Box<AgeArgs>),
}

/// Write to a modelled flash drive until it is worn, and save its state
///
/// Fills the drive once from start to end, then writes to it in virtual time, one --write after the
/// other. The saved state, given as `model:NAME:state=FILE`, is the first state of every probe and
/// of every cell of a sweep. Hours of a fast drive take minutes; a terminal shows the time left.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle models age x25-e-64 --write random:2m --output aged.zst\n  nandle models age x25-e-64 --fill 70% --write random:128GiB --output aged.zst\n  nandle models age mtron-16 --write sequential:2GiB,focused:8MiB:10m --output worn.zst\n  nandle models age x25-e-64 --from aged.zst --write random:10m --output older.zst"
)]
pub(crate) struct AgeArgs {
    /// Name from the list, or your own file (PATH.toml)
    pub(crate) name: String,
    /// Percentage to fill first, from the start; later writes stay in that part
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = percent)]
    pub(crate) fill: u8,
    /// Start from a state saved by this command
    #[arg(long, value_name = "FILE", conflicts_with = "fill")]
    pub(crate) from: Option<PathBuf>,
    /// Pattern, as in `nandle sweep`, and an amount of data or of virtual time
    #[arg(long, value_name = "PATTERN:AMOUNT", value_delimiter = ',', required = true)]
    pub(crate) write: Vec<Wear>,
    /// Bytes per write
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = positive_bytes)]
    pub(crate) block_size: u64,
    /// Number of outstanding writes
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    pub(crate) queue_depth: u32,
    /// Seed of the random patterns
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Path of the saved state
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}
