use nandle_io::Nanos;
use nandle_probe::load::READ_POOL_BYTES;
use nandle_target::{Intent, IoChoice, ModelContents, OpenOptions, Target, TargetError, TargetSpec};

use crate::{Allowance, Cancel, Session};

/// Parameters for opening and addressing a target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "separate permissions of the user")]
pub struct Access {
    /// I/O interface of the requests.
    pub io: IoChoice,
    /// True to bypass the page cache, if supported.
    pub direct: bool,
    /// Size of the test file in a directory.
    pub test_file_bytes: u64,
    /// Bytes of the target to measure, from its start. In a small area a disk's arm moves less.
    pub area_bytes_max: u64,
    /// True if a file's contents may be overwritten. A missing file is created and kept.
    pub overwrite: bool,
    /// True if a raw device's contents may be overwritten.
    pub destroy_data: bool,
    /// Host processor time per request of a modelled drive; `None` for the default.
    pub request_cpu: Option<Nanos>,
    /// Time without completions after which a device is given up.
    pub patience: Nanos,
    /// Largest number of outstanding bytes. Cells beyond it are skipped.
    pub outstanding_bytes_max: u64,
}

impl Default for Access {
    /// Direct I/O to a test file of 4 GiB, a patience of 30 s, 256 MiB outstanding, no overwriting.
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
    /// It can't be opened for this intent. A [busy](TargetError::is_busy) target may be free soon.
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
