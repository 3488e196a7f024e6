use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use nandle_io::Nanos;
use nandle_terminal::args::{bytes_of_at_least, positive_duration};

/// Source, duration and output of a recording.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sudo nandle capture /var/lib/postgresql -o db.csv.zst\n                                     record the disk below a directory for a minute\n  sudo nandle capture /var/lib/postgresql -o db.csv.zst --pid $(pgrep -o postgres) --for 5m\n                                     record requests of the server and its processes\n  sudo nandle capture /var/lib/postgresql -o db.csv.zst --pid $(pgrep -o postgres) -- pgbench -T 30\n                                     the same, while a client runs\n  sudo nandle capture . -o copy.csv.zst -- sudo -u me cp --reflink=never a b\n                                     record a command that runs as another user\n  nandle trace stat db.csv.zst\n  nandle replay db.csv.zst --on model:nvme-tlc"
)]
pub(crate) struct CaptureArgs {
    /// Directory or file; the disk below it is recorded
    #[arg(value_name = "DIR", required_unless_present = "device", conflicts_with = "device")]
    dir: Option<PathBuf>,
    /// Disk or partition to record, such as /dev/nvme0n1p2
    #[arg(long, value_name = "DEVICE")]
    device: Option<PathBuf>,
    /// Trace to write, as CSV; compressed with zstd if its name ends in .zst
    ///
    /// A file on another disk disturbs the recording least.
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: PathBuf,
    /// Duration of the recording [default: 60s, or until the command ends]
    #[arg(long = "for", value_name = "TIME", value_parser = positive_duration)]
    pub(super) duration: Option<Nanos>,
    /// Leave out requests of programs other than this process and its descendants
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) pid: Option<u32>,
    /// Record requests of all programs, even while a command runs
    #[arg(long, conflicts_with = "pid")]
    all_processes: bool,
    /// Memory for unread events, per processor
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = buffer_bytes)]
    pub(super) buffer: u64,
    /// Program to run during the recording
    ///
    /// It starts once recording has begun. Its exit code becomes the exit code of nandle. Its
    /// output goes where it goes without nandle, and the summary goes to standard error. With
    /// --json, its standard output goes to standard error, and the summary to standard output.
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

/// Processes whose requests are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    Everybody,
    Process(u32),
    Command,
}

impl CaptureArgs {
    /// Path on the disk to record.
    pub(super) fn path(&self) -> &Path {
        let path = self.device.as_deref().or(self.dir.as_deref());
        debug_assert!(path.is_some(), "one of them is required");
        path.unwrap_or(Path::new("."))
    }

    pub(super) fn chosen(&self) -> Chosen {
        match self.pid {
            Some(pid) => Chosen::Process(pid),
            None if self.command.is_empty() || self.all_processes => Chosen::Everybody,
            None => Chosen::Command,
        }
    }

    /// Duration of the recording; `None` if the command's end is the end.
    pub(super) fn recorded_for(&self) -> Option<Nanos> {
        const WITHOUT_COMMAND: Nanos = Nanos(60 * 1_000_000_000);
        self.duration.or_else(|| self.command.is_empty().then_some(WITHOUT_COMMAND))
    }
}

fn buffer_bytes(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, 64 << 10, "64KiB")
}
