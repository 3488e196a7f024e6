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

/// Profile a device within a time budget
///
/// Reads a test file, or the given file or device, in short interleaved slices, searches for the
/// device's limits, and writes the results as a JSON profile and an HTML report. On its own test
/// file or a modelled drive it also measures commits and a mixed load of reads and writes.
///
/// With a budget of five minutes or more it runs further experiments that write; --experiments
/// lists them. They write only to the test file, to a modelled drive, or to a file or device whose
/// contents may be lost (--overwrite, --destroy-data).
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle probe .\n  nandle probe /var/lib/postgresql --budget 10m --profile db.json --report db.html\n  nandle probe . --only write-patterns,flush --budget 2m --yes\n  nandle probe . --budget 10m --resume\n  sudo nandle probe /dev/nvme0n1\n  nandle probe model:x25-m-g2 --budget 30s"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Total time, virtual for a modelled drive
    ///
    /// At most a quarter is spent on writing the test file. Commits and a mixed load are measured
    /// with 60s or more, the other experiments that write with 5m or more. The real time for a
    /// modelled drive depends on the number of requests.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Nanos,
    /// Path of the profile [default: profile.json]
    ///
    /// If the probe ends early and a complete profile exists, that one is kept, and the new one is
    /// written to profile.partial.json next to it. The profile of another device is replaced only
    /// if this option names the file.
    #[arg(long, value_name = "PATH")]
    profile: Option<PathBuf>,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) report: PathBuf,
    /// Refused with a hint: the results go to --profile and --report
    #[arg(long = "output", hide = true, value_parser = two_outputs())]
    _output: Option<String>,
    /// Write only the initial contents of the test file
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Maximum bytes written by all experiments together [default: an eighth of the free space or
    /// of a raw device; unlimited for modelled drives]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) write_limit: Option<u64>,
    /// Run only these experiments; `reads` stands for the reads
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Skip these experiments
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Read statistics that an ablation leaves out
    #[arg(long, value_delimiter = ',', hide = true)]
    without: Vec<Statistic>,
    /// Write without asking for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Resume an interrupted probe; complete parts aren't measured again
    #[arg(long)]
    pub(crate) resume: bool,
    /// List the experiments and their cost within the budget; run nothing
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
