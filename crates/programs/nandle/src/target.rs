//! Parses and opens targets of the command line.

use std::time::Duration;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use nandle_io::Nanos;
use nandle_session::Access;
use nandle_target::{OpenOptions, Target, TargetError, TargetSpec};
use nandle_terminal::args::{IoArg, positive_duration};
use nandle_terminal::interrupt::remove_when_interrupted;
use nandle_units::{parse_bytes, parse_duration};

/// Attempts to open a device that the previous run still holds.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Target, and options for opening it.
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// Directory, file, block device, modelled drive, or software array
    ///
    /// In a directory, a temporary test file is created. A modelled drive is model:NAME or
    /// model:PATH.toml; see `nandle models --help`. A software array lists its members, as in
    /// raid0:64KiB:/mnt/a,/mnt/b or raid10:64KiB:model:NAME*4.
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| TargetSpec::from_os(&text)))]
    pub(crate) target: TargetSpec,
    /// Size of the test file in a directory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_bytes)]
    pub(crate) file_size: u64,
    /// I/O interface
    #[arg(long, value_name = "INTERFACE", default_value = "auto")]
    pub(crate) io: IoArg,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    pub(crate) buffered: bool,
    /// Give up on a device after this long without a completed request
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_duration)]
    pub(crate) patience: Nanos,
    /// Maximum bytes outstanding at once; cells with more are skipped
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_bytes)]
    pub(crate) outstanding_max: u64,
    /// Seed of the random patterns
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Allow the named file to be overwritten; a missing file is created and kept
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Allow the named block device to be overwritten
    #[arg(long)]
    pub(crate) destroy_data: bool,
    /// Host processor time per request to a modelled drive [default: 2us]
    ///
    /// The modelled host has one processor.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) request_cpu: Option<Nanos>,
}

impl TargetArgs {
    /// Access of a session.
    pub(crate) fn access(&self) -> Access {
        Access {
            io: self.io.into(),
            direct: !self.buffered,
            test_file_bytes: self.file_size,
            area_bytes_max: u64::MAX,
            overwrite: self.overwrite,
            destroy_data: self.destroy_data,
            request_cpu: self.request_cpu,
            patience: self.patience,
            outstanding_bytes_max: self.outstanding_max,
        }
    }
}

/// Retries for a second while the device is busy.
pub(crate) fn open_when_free<T, E>(
    mut open: impl FnMut() -> Result<T, E>,
    is_busy: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let mut opened = open();
    for _ in 0..BUSY_TRIES {
        if !opened.as_ref().is_err_and(&is_busy) {
            break;
        }
        std::thread::sleep(BUSY_PAUSE);
        opened = open();
    }
    opened
}

/// Opens a target. If the user interrupts twice, its test files are removed.
pub(crate) fn open(spec: &TargetSpec, options: &OpenOptions) -> Result<Target, TargetError> {
    let target = open_when_free(|| Target::open(spec.clone(), options.clone()), TargetError::is_busy)?;
    remove_when_interrupted(target.names_of_test_files());
    Ok(target)
}
