use std::path::PathBuf;

use clap::{Args, Subcommand};
use nandle_terminal::args::{percent, positive_bytes};

use super::wear::Wear;

/// List, show, export and age the modelled drives.
///
/// A modelled drive is a target like any other: model:NAME, or model:PATH.toml for one's own. Behind it may stand how it
/// begins: model:NAME:state=new (never written), state=filled (once from start to end; what it is when nothing is said),
/// state=70% (filled so far), or state=FILE, a file that `age` wrote. And what goes wrong on it: model:NAME:faults=FILE,
/// a TOML of `[[fault]]` tables, each with kind = "failed-read" (or another; a wrong one is refused with all there are) and
/// `per_million = N`. Colons, commas and asterisks in those paths take a backslash.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle models\n  nandle models show x25-m-g2\n  nandle probe model:x25-m-g2:state=new\n  nandle models age x25-e-64 --fill 70% --write random:64GiB --output aged.zst && nandle sweep model:x25-e-64:state=aged.zst --operation write\n  nandle models export x25-m-g2 > mine.toml && nandle probe model:mine.toml"
)]
pub(crate) struct ModelsArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Name every modelled drive and array
    List,
    /// Say what a model is
    Show {
        /// A name of the list, or one's own file (PATH.toml)
        name: String,
    },
    /// Print a model's parameters as TOML, each with its source
    Export {
        /// A name of the list, or one's own file (PATH.toml)
        name: String,
    },
    Age(Box<AgeArgs>),
}

/// Write to a modelled flash drive until it is worn, and keep its state.
///
/// The drive is filled once from start to end, and then written to in virtual time, one --write after the other. What it
/// is then, as `model:NAME:state=FILE`, is the first state of every probe and every cell of a sweep. Hours of a fast drive
/// take minutes; a terminal shows how many are left.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle models age x25-e-64 --write random:2m --output aged.zst\n  nandle models age x25-e-64 --fill 70% --write random:128GiB --output aged.zst\n  nandle models age mtron-16 --write sequential:2GiB,focused:8MiB:10m --output worn.zst\n  nandle models age x25-e-64 --from aged.zst --write random:10m --output older.zst"
)]
pub(crate) struct AgeArgs {
    /// A name of the list, or one's own file (PATH.toml)
    pub(crate) name: String,
    /// How much of it is filled first, from its start on; writes then stay in that part
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = percent)]
    pub(crate) fill: u8,
    /// Begin with a state that this command wrote before
    #[arg(long, value_name = "FILE", conflicts_with = "fill")]
    pub(crate) from: Option<PathBuf>,
    /// What to write: a pattern, as a sweep has it, and an amount of data or of virtual time
    #[arg(long, value_name = "PATTERN:AMOUNT", value_delimiter = ',', required = true)]
    pub(crate) write: Vec<Wear>,
    /// Bytes of one write
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = positive_bytes)]
    pub(crate) block_size: u64,
    /// Writes outstanding
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    pub(crate) queue_depth: u32,
    /// Seed of the random patterns
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where the state goes
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}
