use nandle_io::Nanos;
use nandle_probe::load::READ_POOL_BYTES;
use nandle_target::{Intent, IoChoice, ModelContents, OpenOptions, Target, TargetError, TargetSpec};

use crate::{Allowance, Cancel, Session};

/// How a target is opened and addressed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "permissions that users give one by one")]
pub struct Access {
    /// Which world its requests go through.
    pub io: IoChoice,
    /// Bypass the page cache where the target can.
    pub direct: bool,
    /// Size of a directory's test file.
    pub test_file_bytes: u64,
    /// Only so much of the target is measured, from its start on: where data lie close together, a disk's arm moves less.
    pub area_bytes_max: u64,
    /// A file's contents may be lost; one that doesn't exist is made, and kept.
    pub overwrite: bool,
    /// A raw device's contents may be lost.
    pub destroy_data: bool,
    /// What a request to a modelled drive costs its host's processor; `None` for the usual.
    pub request_cpu: Option<Nanos>,
    /// A device that is silent for this long is given up.
    pub patience: Nanos,
    /// Cells that would have more bytes outstanding at once are left out.
    pub outstanding_bytes_max: u64,
}

impl Default for Access {
    /// Direct I/O to a test file of 4 GiB, 30 s of patience, 256 MiB outstanding; foreign data stays as it is.
    fn default() -> Self {
        Self {
            io: IoChoice::Auto,
            direct: true,
            test_file_bytes: 4 << 30,
            area_bytes_max: u64::MAX,
            overwrite: false,
            destroy_data: false,
            request_cpu: None,
            patience: Nanos::from_secs(30),
            outstanding_bytes_max: 256 << 20,
        }
    }
}

impl Access {
    /// Opens a target.
    ///
    /// # Errors
    /// It can't be opened, or not for that intent. One that [is busy](TargetError::is_busy) may be free in a moment.
    pub fn open(&self, spec: &TargetSpec, intent: Intent, cancel: &Cancel) -> Result<Session, TargetError> {
        let options = OpenOptions {
            io: self.io,
            direct: self.direct,
            intent,
            test_file_bytes: self.test_file_bytes,
            overwrite: self.overwrite,
            destroy_data: self.destroy_data,
            request_cpu: self.request_cpu,
            model_contents: ModelContents::None,
        };
        let target = Target::open(spec.clone(), options)?;
        let outstanding = Allowance::of("requests outstanding", self.outstanding_bytes_max);
        let read_pool = Allowance::of("reads to go through", READ_POOL_BYTES);
        let (patience, area_bytes_max) = (self.patience, self.area_bytes_max);
        Ok(Session { target, cancel: cancel.clone(), patience, outstanding, read_pool, area_bytes_max })
    }
}
