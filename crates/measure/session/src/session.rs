//! A target that is open, filled where it has to be, and ready to be measured.

use std::path::Path;

use nandle_io::{Device, Io, Nanos};
use nandle_probe::Unobserved;
use nandle_probe::experiments::{HostFiles, Opened, TestFile};
use nandle_probe::fill::{BUFFER_BYTES, FillError, FillOptions, FillReport, fill};
use nandle_probe::load::{Cancel, Contents, Lane, LaneOptions};
use nandle_profile::Backend;
use nandle_target::{OpenedIo, SpareFile, Target, TargetError, TargetKind, TargetSpec};
use nandle_units::format_bytes;

use crate::{Allowance, Progress, SessionError};

/// Seed of the contents of test files.
const CONTENTS_SEED: u64 = 0x6e61_6e64_6c65;

/// Slots of a world in which nothing is measured: for filling.
const FILL_SLOTS: u32 = 16;

/// A target that is open.
pub struct Session {
    /// The target.
    pub target: Target,
    /// Ends what runs on it.
    pub cancel: Cancel,
    /// A device that is silent for this long is given up.
    pub patience: Nanos,
    /// Memory for the requests that are outstanding at one time.
    pub outstanding: Allowance,
    /// Memory that reads of a real target go through.
    pub read_pool: Allowance,
    /// Only so much of the target is measured, from its start on.
    pub area_bytes_max: u64,
}

/// What can be addressed, and what reads from it must find.
pub struct Prepared {
    /// From its start on.
    pub area_bytes: u64,
    /// `None` where it isn't known what the area holds.
    pub contents: Option<Contents>,
    /// What was written, and how long it took; `None` when nothing was.
    pub filled: Option<FillReport>,
}

impl Session {
    /// What a reader of figures should know of the target and of the memory for it, each a sentence.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.target.remarks();
        remarks.extend(self.outstanding.remark.clone());
        remarks.extend(self.read_pool.remark.clone().filter(|_| !self.target.is_modelled()));
        if self.area_bytes() < self.target.area_bytes() {
            let (part, all) = (self.area_bytes(), self.target.area_bytes());
            remarks.push(format!(
                "Only the first {} of {} are measured.",
                format_bytes(part),
                format_bytes(all)
            ));
        }
        remarks
    }

    /// What of the target is measured, from its start on.
    pub fn area_bytes(&self) -> u64 {
        self.target.area_bytes().min(self.area_bytes_max)
    }

    /// What the user named, so that it means the same elsewhere: a relative path is made absolute.
    pub fn name(&self) -> String {
        let spec = self.target.spec();
        let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        match spec {
            TargetSpec::Path(path) => absolute(path).display().to_string(),
            TargetSpec::Model(model) => model.clone().with_paths(|path| absolute(&path)).to_string(),
            TargetSpec::Repeat { .. } | TargetSpec::Array(_) => spec.to_string(),
        }
    }

    /// A world with the target in it, for one thread.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn open_io(&self, slots: u32) -> Result<(Box<dyn Io>, Device), SessionError> {
        let opened = self.target.io(slots)?;
        Ok((opened.io, opened.device))
    }

    /// The same with its write cache off. For models.
    ///
    /// # Errors
    /// It can't be opened, or has no cache that can be switched off.
    pub fn open_io_without_cache(&self, slots: u32) -> Result<(Box<dyn Io>, Device), String> {
        let opened = self.target.io_without_cache(slots).map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    }

    /// How requests reach the target when up to `slots` of them, of `buffer_bytes` in all, are outstanding, and reads go through a pool or not: what of
    /// the memory can be registered shows only when it is tried, and nothing is where there is a pool.
    ///
    /// # Errors
    /// It can't be opened, or memory is short.
    pub fn backend(
        &self,
        slots: u32,
        buffer_bytes: u64,
        has_read_pool: bool,
    ) -> Result<Backend, SessionError> {
        let (io, device) = self.open_io(slots)?;
        // The least pool does: that there is one decides.
        let mut lane =
            Lane::new(io, device.clone(), self.lane_options(buffer_bytes, u64::from(has_read_pool)))?;
        Ok(nandle_target::backend(lane.io(), &device))
    }

    /// How lanes on the target are made, with so much memory for buffers or as much as filling needs, and with so much that reads go through.
    pub fn lane_options(&self, buffer_bytes: u64, read_pool_bytes: u64) -> LaneOptions {
        LaneOptions { buffer_bytes: buffer_bytes.max(BUFFER_BYTES), read_pool_bytes, patience: self.patience }
    }

    /// Writes the target where it has no contents yet, for at most `time_limit`.
    ///
    /// # Errors
    /// It can't be written, or nothing of it was in that time.
    pub fn prepare(
        &self,
        lane: &mut Lane,
        time_limit: Option<Nanos>,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, SessionError> {
        let area_bytes = self.area_bytes();
        if !self.target.needs_fill() {
            return Ok(Prepared { area_bytes, contents: None, filled: None });
        }
        let contents = Contents::new(CONTENTS_SEED);
        let options = FillOptions { bytes: area_bytes, time_limit, contents };
        let filled = fill(lane, options, progress, &self.cancel).map_err(|cause| self.not_filled(cause))?;
        if filled.bytes == 0 {
            let target = self.target.spec().to_string();
            return Err(SessionError::NothingFilled {
                target,
                wanted_bytes: area_bytes,
                elapsed: filled.elapsed,
            });
        }
        if filled.bytes >= self.target.area_bytes() {
            self.target.mark_filled()?;
        }
        progress.begin_stage();
        Ok(Prepared { area_bytes: filled.bytes, contents: Some(contents), filled: Some(filled) })
    }

    /// How long it takes to write `bytes`, judging by the first `trial_bytes` of a test file, which are written for at
    /// most `time_limit`; `None` for any other target, because what is there stays as it is.
    ///
    /// # Errors
    /// It can't be written.
    pub fn fill_time(
        &self,
        bytes: u64,
        trial_bytes: u64,
        time_limit: Nanos,
    ) -> Result<Option<Nanos>, SessionError> {
        if self.target.kind() != TargetKind::TestFile || bytes == 0 {
            return Ok(None);
        }
        let (io, device) = self.open_io(FILL_SLOTS)?;
        let mut lane = Lane::new(io, device, self.lane_options(0, 0))?;
        let options = FillOptions {
            bytes: bytes.min(trial_bytes),
            time_limit: Some(time_limit),
            contents: Contents::new(CONTENTS_SEED),
        };
        let trial = fill(&mut lane, options, &mut Unobserved, &self.cancel);
        let trial = trial.map_err(|cause| self.not_filled(cause))?;
        let time = u128::from(trial.elapsed.0) * u128::from(bytes) / u128::from(trial.bytes.max(1));
        Ok(u64::try_from(time).ok().map(Nanos))
    }

    fn not_filled(&self, cause: FillError) -> SessionError {
        SessionError::fill(self.target.spec().to_string(), cause)
    }

    /// [`Session::prepare`] with a lane that is made for it and dropped after.
    ///
    /// # Errors
    /// It can't be opened or written, or nothing of it was in that time.
    pub fn prepare_apart(
        &self,
        time_limit: Option<Nanos>,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, SessionError> {
        let (io, device) = self.open_io(FILL_SLOTS)?;
        let mut lane = Lane::new(io, device, self.lane_options(0, 0))?;
        self.prepare(&mut lane, time_limit, progress)
    }
}

impl HostFiles for Session {
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
