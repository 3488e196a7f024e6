use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use clap::builder::UnknownArgumentValueParser;
use nandle_io::Nanos;
use nandle_profile::DeviceProfile;
use nandle_session::{Cancel, ProbeOptions, Statistic};
use nandle_units::{parse_bytes, parse_duration};

use crate::target::TargetArgs;

fn two_outputs() -> UnknownArgumentValueParser {
    let tip =
        "the results go to two files: `--profile` names that of the profile, `--report` that of the report";
    UnknownArgumentValueParser::suggest(tip)
}

/// Profile a device within a time budget.
///
/// Writes a test file (unless the target is one, or a device), reads it in short interleaved slices, searches where
/// the device's limits are, and writes what it found as JSON and as a page. In its own test file, or a modelled drive, it
/// also measures commits and a mixed load of reads and writes. With five minutes or more it
/// conducts further experiments that write (`nandle probe TARGET --experiments` lists them), where that harms nothing: to the
/// test file, to a modelled drive, to a file or a device whose contents may be lost.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle probe .\n  nandle probe /var/lib/postgresql --budget 10m --profile db.json --report db.html\n  nandle probe . --only write-patterns,flush --budget 2m --yes\n  nandle probe . --budget 10m --resume\n  sudo nandle probe /dev/nvme0n1\n  nandle probe model:x25-m-g2 --budget 30s"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Time for everything; a quarter of it at most goes into writing the test file. Commits and a mixed load take a part from 60s on, all other experiments that write from 5m on. Of a modelled drive it is virtual
    /// time, and how long that takes depends on how many requests fit into it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Nanos,
    /// Where the profile goes. When the probe ends early and a complete profile is there, that one stays, and the new
    /// one goes to profile.partial.json beside it. The profile of another device is replaced only in a file that is named [default: profile.json]
    #[arg(long, value_name = "PATH")]
    profile: Option<PathBuf>,
    /// Where the report goes
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) report: PathBuf,
    /// What other commands have, and this one has twice; refused with a word on those.
    #[arg(long = "output", hide = true, value_parser = two_outputs())]
    _output: Option<String>,
    /// Write nothing but the test file's first contents
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Bytes that all experiments together may write [default: an eighth of the free space, or of a raw device; no limit
    /// on modelled drives]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) write_limit: Option<u64>,
    /// Conduct these experiments alone (`reads` is the read side)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Leave these experiments out
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Parts of the read side's statistics that an ablation leaves out
    #[arg(long, value_delimiter = ',', hide = true)]
    without: Vec<Statistic>,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Go on with the profile that an interrupted probe left: what is complete in it isn't measured again
    #[arg(long)]
    pub(crate) resume: bool,
    /// List the experiments with what each would cost within the budget; run nothing
    #[arg(long)]
    pub(crate) experiments: bool,
}

/// Default path of the profile.
const PROFILE_NAME: &str = "profile.json";

impl ProbeArgs {
    /// Path of the profile.
    pub(super) fn profile(&self) -> &Path {
        self.profile.as_deref().unwrap_or_else(|| Path::new(PROFILE_NAME))
    }

    /// Returns true if the user named the path, and thus may want to replace the file.
    pub(super) const fn profile_is_named(&self) -> bool {
        self.profile.is_some()
    }

    /// Options of the probe.
    pub(super) fn options(&self, resume: Option<DeviceProfile>, cancel: Cancel) -> ProbeOptions {
        ProbeOptions {
            access: self.target.access(),
            budget: self.budget,
            made_at: SystemTime::now(),
            seed: self.target.seed,
            read_only: self.read_only.then(|| "--read-only was given".into()),
            write_limit_bytes: self.write_limit,
            only: self.only.clone(),
            skip: self.skip.clone(),
            resume,
            cancel,
            without: self.without.iter().copied().collect(),
        }
    }
}
