//! Open target, filled if necessary and ready for measurements.

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

/// Request slots of a world that only fills.
const FILL_SLOTS: u32 = 16;

/// Open target with its parameters.
pub struct Session {
    /// The target.
    pub target: Target,
    /// Interrupts measurements.
    pub cancel: Cancel,
    /// Time without completions after which the device is given up.
    pub patience: Nanos,
    /// Memory for outstanding requests.
    pub outstanding: Allowance,
    /// Memory of the read pool for a real target.
    pub read_pool: Allowance,
    /// Bytes of the target to measure, from its start.
    pub area_bytes_max: u64,
}

/// Addressable area and its contents.
pub struct PreparedArea {
    /// Size of the area, from the start of the target.
    pub area_bytes: u64,
    /// Contents that reads must return, if known.
    pub contents: Option<Contents>,
    /// Result of the fill, if any.
    pub filled: Option<FillReport>,
}

impl Session {
    /// Remarks about the target and its memory, each a sentence.
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

    /// Size of the measured area, from the start of the target.
    pub fn area_bytes(&self) -> u64 {
        self.target.area_bytes().min(self.area_bytes_max)
    }

    /// Target as named by the user, with absolute paths.
    pub fn name(&self) -> String {
        let spec = self.target.spec();
        let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        match spec {
            TargetSpec::Path(path) => absolute(path).display().to_string(),
            TargetSpec::Model(model) => model.clone().with_paths(|path| absolute(&path)).to_string(),
            TargetSpec::Repeat { .. } | TargetSpec::Array(_) => spec.to_string(),
        }
    }

    /// Opens the target in a world for one thread.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn open_io(&self, slots: u32) -> Result<(Box<dyn Io>, Device), SessionError> {
        let opened = self.target.io(slots)?;
        Ok((opened.io, opened.device))
    }

    /// Opens a modelled target with its write cache off.
    ///
    /// # Errors
    /// It can't be opened, or has no cache that can be switched off.
    pub fn open_io_without_cache(&self, slots: u32) -> Result<(Box<dyn Io>, Device), String> {
        let opened = self.target.io_without_cache(slots).map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    }

    /// Determines the I/O interface for up to `slots` outstanding requests with `buffer_bytes` in
    /// all, with or without a read pool. Only an attempt shows how much memory can be registered.
    /// With a pool nothing is registered.
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
        // Only the existence of a pool matters, so the smallest one is used.
        let mut lane =
            Lane::new(io, device.clone(), self.lane_options(buffer_bytes, u64::from(has_read_pool)))?;
        Ok(nandle_target::backend(lane.io(), &device))
    }

    /// Options for lanes on the target, with at least enough buffers to fill it.
    pub fn lane_options(&self, buffer_bytes: u64, read_pool_bytes: u64) -> LaneOptions {
        LaneOptions { buffer_bytes: buffer_bytes.max(BUFFER_BYTES), read_pool_bytes, patience: self.patience }
    }

    /// Fills the target if it has no contents yet, for at most `time_limit`.
    ///
    /// # Errors
    /// It can't be written, or nothing was written in that time.
    pub fn prepare(
        &self,
        lane: &mut Lane,
        time_limit: Option<Nanos>,
        progress: &mut dyn Progress,
    ) -> Result<PreparedArea, SessionError> {
        let area_bytes = self.area_bytes();
        if !self.target.needs_fill() {
            return Ok(PreparedArea { area_bytes, contents: None, filled: None });
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
        Ok(PreparedArea { area_bytes: filled.bytes, contents: Some(contents), filled: Some(filled) })
    }

    /// Estimates the time to write `bytes`, from a trial that writes the first `trial_bytes` of a
    /// test file for at most `time_limit`. Returns `None` for any other target, whose contents must
    /// be kept.
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

    /// [`Session::prepare`] with a temporary lane.
    ///
    /// # Errors
    /// It can't be opened or written, or nothing was written in that time.
    pub fn prepare_apart(
        &self,
        time_limit: Option<Nanos>,
        progress: &mut dyn Progress,
    ) -> Result<PreparedArea, SessionError> {
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
