//! A target that is open, filled where it has to be, and ready to be measured.

use std::path::Path;
use std::time::Duration;

use nandle_io::{Device, Io, Nanos};
use nandle_probe::Unobserved;
use nandle_probe::experiments::{Beside, Opened, TestFile};
use nandle_probe::fill::{BUFFER_BYTES, FillError, FillOptions, Filled, fill};
use nandle_probe::load::{Cancel, Contents, Lane, LaneOptions, LoadError};
use nandle_profile::Backend;
use nandle_target::{
    Intent, ModelContents, OpenOptions, OpenedIo, SpareFile, Target, TargetError, TargetKind, TargetSpec,
};
use nandle_units::format_bytes;

use crate::args::TargetArgs;
use crate::error::CliError;
use crate::interrupt::remove_when_interrupted;
use crate::memory::Allowance;
use crate::progress::Progress;

/// Seed of the contents of test files.
const CONTENTS_SEED: u64 = 0x6e61_6e64_6c65;

pub(crate) struct Session {
    pub(crate) target: Target,
    pub(crate) cancel: Cancel,
    pub(crate) patience: Nanos,
    /// Memory for the requests that are outstanding at one time.
    pub(crate) outstanding: Allowance,
}

/// How often and how long a device is waited for that the run before still has open.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Opens a target, and has its test files removed when the user interrupts it twice.
pub(crate) fn open(spec: &TargetSpec, options: &OpenOptions) -> Result<Target, TargetError> {
    let mut opened = Target::open(spec.clone(), options.clone());
    for _ in 0..BUSY_TRIES {
        if !opened.as_ref().is_err_and(TargetError::is_busy) {
            break;
        }
        std::thread::sleep(BUSY_PAUSE);
        opened = Target::open(spec.clone(), options.clone());
    }
    let target = opened?;
    remove_when_interrupted(target.names_of_test_files());
    Ok(target)
}

/// What can be addressed, and what reads from it must find.
pub(crate) struct Prepared {
    pub(crate) area_bytes: u64,
    /// `None` where it isn't known what the area holds.
    pub(crate) contents: Option<Contents>,
    /// What was written, and how long it took; `None` when nothing was.
    pub(crate) filled: Option<Filled>,
}

impl Session {
    /// Opens what the user named.
    pub(crate) fn open(args: &TargetArgs, intent: Intent, cancel: &Cancel) -> Result<Self, CliError> {
        Ok(Self::try_open(args, intent, cancel)?)
    }

    /// [`Session::open`] with the reason why it could not be.
    pub(crate) fn try_open(args: &TargetArgs, intent: Intent, cancel: &Cancel) -> Result<Self, TargetError> {
        let options = OpenOptions {
            io: args.io.into(),
            direct: !args.buffered,
            intent,
            test_file_bytes: args.file_size,
            overwrite: args.overwrite,
            destroy_data: args.destroy_data,
            request_cpu: args.request_cpu,
            model_contents: ModelContents::None,
        };
        let target = open(&args.target, &options)?;
        let outstanding = Allowance::of("requests outstanding", args.outstanding_max);
        Ok(Self { target, cancel: cancel.clone(), patience: args.patience, outstanding })
    }

    /// What a reader of figures should know of the target and of the memory for it, each a sentence.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.target.remarks();
        remarks.extend(self.outstanding.remark.clone());
        remarks
    }

    /// What the user named, so that it means the same elsewhere: a relative path is made absolute.
    pub(crate) fn name(&self) -> String {
        let spec = self.target.spec();
        let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        match spec {
            TargetSpec::Path(path) => absolute(path).display().to_string(),
            TargetSpec::Model(model) => model.clone().with_paths(|path| absolute(&path)).to_string(),
            TargetSpec::Repeat { .. } | TargetSpec::Array(_) => spec.to_string(),
        }
    }

    /// A world with the target in it, for one thread.
    pub(crate) fn open_io(&self, slots: u32) -> Result<(Box<dyn Io>, Device), CliError> {
        let opened = self.target.io(slots)?;
        Ok((opened.io, opened.device))
    }

    /// The same with its write cache off. For models.
    pub(crate) fn open_io_without_cache(&self, slots: u32) -> Result<(Box<dyn Io>, Device), String> {
        let opened = self.target.io_without_cache(slots).map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    }

    /// How requests reach the target when up to `slots` of them, of `buffer_bytes` in all, are outstanding: what of
    /// that memory can be registered shows only when it is tried.
    pub(crate) fn backend(&self, slots: u32, buffer_bytes: u64) -> Result<Backend, CliError> {
        let (io, device) = self.open_io(slots)?;
        let mut lane = Lane::new(io, device.clone(), self.lane_options(buffer_bytes))?;
        Ok(nandle_target::backend(lane.io(), &device))
    }

    pub(crate) fn lane_options(&self, buffer_bytes: u64) -> LaneOptions {
        LaneOptions { buffer_bytes: buffer_bytes.max(BUFFER_BYTES), patience: self.patience }
    }

    /// Writes the target where it has no contents yet, for at most `time_limit`.
    pub(crate) fn prepare(
        &self,
        lane: &mut Lane,
        time_limit: Option<Nanos>,
        progress: &mut Progress,
    ) -> Result<Prepared, CliError> {
        let area_bytes = self.target.area_bytes();
        if !self.target.needs_fill() {
            return Ok(Prepared { area_bytes, contents: None, filled: None });
        }
        let contents = Contents::new(CONTENTS_SEED);
        let options = FillOptions { bytes: area_bytes, time_limit, contents };
        let filled = fill(lane, options, progress, &self.cancel).map_err(|error| self.not_filled(&error))?;
        if filled.bytes == 0 {
            return Err(CliError::failed(format!(
                "{}: not one MiB of the test file ({}) could be written in {}; give a larger --budget",
                self.target.spec(),
                format_bytes(area_bytes),
                nandle_units::format_duration(filled.elapsed)
            )));
        }
        if filled.bytes >= area_bytes {
            self.target.mark_filled()?;
        }
        progress.restart();
        Ok(Prepared { area_bytes: filled.bytes, contents: Some(contents), filled: Some(filled) })
    }

    /// How long it takes to write `bytes`, judging by the first `trial_bytes` of a test file, which are written for at
    /// most `time_limit`; `None` for any other target, because what is there stays as it is.
    pub(crate) fn fill_time(
        &self,
        bytes: u64,
        trial_bytes: u64,
        time_limit: Nanos,
    ) -> Result<Option<Nanos>, CliError> {
        if self.target.kind() != TargetKind::TestFile || bytes == 0 {
            return Ok(None);
        }
        let (io, device) = self.open_io(16)?;
        let mut lane = Lane::new(io, device, self.lane_options(0))?;
        let options = FillOptions {
            bytes: bytes.min(trial_bytes),
            time_limit: Some(time_limit),
            contents: Contents::new(CONTENTS_SEED),
        };
        let trial = fill(&mut lane, options, &mut Unobserved, &self.cancel);
        let trial = trial.map_err(|error| self.not_filled(&error))?;
        let time = u128::from(trial.elapsed.0) * u128::from(bytes) / u128::from(trial.bytes.max(1));
        Ok(u64::try_from(time).ok().map(Nanos))
    }

    fn not_filled(&self, error: &FillError) -> CliError {
        match error {
            FillError::Load(LoadError::Cancelled) => {
                CliError::interrupted("interrupted while the test file was written")
            }
            other => CliError::failed(format!("{}: {other}", self.target.spec())),
        }
    }

    /// [`Session::prepare`] with a lane that is made for it and dropped after.
    pub(crate) fn prepare_apart(
        &self,
        time_limit: Option<Nanos>,
        progress: &mut Progress,
    ) -> Result<Prepared, CliError> {
        let (io, device) = self.open_io(16)?;
        let mut lane = Lane::new(io, device, self.lane_options(0))?;
        self.prepare(&mut lane, time_limit, progress)
    }
}

impl Beside for Session {
    fn blocking(&self) -> Opened {
        opened(self.target.blocking())
    }

    fn test_file(&self, file: TestFile) -> Opened {
        let TestFile { bytes, reserved, direct, sync } = file;
        opened(self.target.spare_file(SpareFile { bytes, reserved, direct, sync }))
    }
}

fn opened(result: Result<OpenedIo, TargetError>) -> Opened {
    let opened = result.map_err(|error| error.to_string())?;
    Ok((opened.io, opened.device))
}
