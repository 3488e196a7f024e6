//! Device of the temporary data.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_io::{Access, Device, DeviceFile, DeviceId, FileOptions, FileWorld, Io};
use nandle_target::{Intent, ModelContents, OpenOptions, Target, TargetSpec};

use rustix::fs::{MemfdFlags, SealFlags};

use super::SpillArgs;
use crate::error::CliError;
use crate::target;

/// Requests in flight.
const SLOTS: u32 = 1024;
/// Space offered where nothing can be written: the first write reports the error.
const NOWHERE_BYTES: u64 = 1 << 40;
/// Hint of errors that another place would avoid.
pub(super) const ANOTHER_PLACE: &str = "(--temporary, --space)";
/// Divisor of a file system's free space for the part that is left free.
const KEPT_FREE_PART: u64 = 16;

/// The device of the temporary data.
pub(crate) struct Temporary {
    kind: Kind,
    pub(crate) device: DeviceId,
    /// Name in messages.
    pub(crate) name: String,
    /// Usable bytes.
    pub(crate) bytes: u64,
    pub(crate) is_modelled: bool,
    /// Fallbacks: no ring, no direct I/O.
    pub(crate) stepped_down: Vec<String>,
    /// Other remarks on the figures.
    pub(crate) remarks: Vec<String>,
    /// Reason why nothing can be written to it.
    missing: Option<CliError>,
}

enum Kind {
    File(Arc<DeviceFile>),
    Target(Target),
}

impl Temporary {
    /// Opens the user's target, or the directory of the output. Input that fits in memory needs no
    /// temporary data: an unusable default directory is an error only on the first write.
    pub(crate) fn open(args: &SpillArgs, output: Option<&Path>) -> Result<Self, CliError> {
        match &args.temporary {
            None => {
                let folder = beside_the_output(output);
                Self::in_folder(&folder, args.space).or_else(|missing| Self::nowhere(&folder, missing))
            }
            Some(TargetSpec::Path(path)) if path.is_dir() => Self::in_folder(path, args.space),
            Some(spec) => Self::on_target(spec, args),
        }
    }

    /// Growing file without a name.
    fn in_folder(folder: &Path, space: Option<u64>) -> Result<Self, CliError> {
        let failed = |what: String| failed_in(folder, &what);
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|error| failed(format!("making a file: {error}")))?;
        let free_bytes = rustix::fs::fstatvfs(&file)
            .map(|facts| facts.f_bavail.saturating_mul(facts.f_frsize))
            .map_err(|error| failed(format!("asking what is free: {error}")))?;
        let bytes = space.unwrap_or(free_bytes - free_bytes / KEPT_FREE_PART);
        Self::in_file(folder, file, bytes)
    }

    /// Sealed file in memory, of length zero.
    fn nowhere(folder: &Path, missing: CliError) -> Result<Self, CliError> {
        let file = rustix::fs::memfd_create("temporary", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC);
        let sealed = file.and_then(|file| {
            rustix::fs::fcntl_add_seals(&file, SealFlags::GROW)?;
            Ok(file)
        });
        let Ok(file) = sealed else { return Err(missing) };
        let temporary = Self::in_file(folder, file.into(), NOWHERE_BYTES)?;
        Ok(Self { stepped_down: Vec::new(), missing: Some(missing), ..temporary })
    }

    fn in_file(folder: &Path, file: File, bytes: u64) -> Result<Self, CliError> {
        let file = DeviceFile::new(file, FileOptions::default());
        let file = file.map_err(|error| failed_in(folder, &error.to_string()))?.growing_to(bytes);
        let file = Arc::new(file);
        let (io, device) = world(&file)?;
        let mut stepped_down = io.backend().stepped_down;
        if let Access::Buffered { reason } = &device.shape.access {
            stepped_down.push(format!("Temporary data go through the page cache: {reason}."));
        }
        let bytes = device.shape.capacity_bytes;
        Ok(Self {
            kind: Kind::File(file),
            device: device.id,
            name: name_of(folder),
            bytes,
            is_modelled: false,
            stepped_down,
            remarks: Vec::new(),
            missing: None,
        })
    }

    fn on_target(spec: &TargetSpec, args: &SpillArgs) -> Result<Self, CliError> {
        let options = OpenOptions {
            intent: Intent::Write,
            destroy_data: args.destroy_data,
            model_contents: ModelContents::Kept,
            test_file_bytes: args.space.unwrap_or(OpenOptions::default().test_file_bytes),
            ..OpenOptions::default()
        };
        let target = target::open(spec, &options)?;
        let opened = target.io(SLOTS)?;
        let stepped_down = opened.backend().stepped_down;
        let bytes = args.space.unwrap_or(u64::MAX).min(target.area_bytes());
        Ok(Self {
            device: opened.device.id,
            name: spec.to_string(),
            bytes,
            is_modelled: target.is_modelled(),
            stepped_down,
            remarks: target.remarks(),
            missing: None,
            kind: Kind::Target(target),
        })
    }

    /// Creates an I/O world with the device; one per thread. The device has the same id in all of
    /// them. A modelled drive is new in each.
    pub(crate) fn world(&self) -> Result<Box<dyn Io>, CliError> {
        match &self.kind {
            Kind::File(file) => world(file).map(|(io, _)| io),
            Kind::Target(target) => Ok(target.io(SLOTS)?.io),
        }
    }

    /// Explains an error of the command: without a temporary place, another place helps.
    pub(crate) fn explain(&self, error: CliError) -> CliError {
        let Some(missing) = self.missing.as_ref().filter(|_| error.to_string().ends_with(ANOTHER_PLACE))
        else {
            return error;
        };
        CliError::failed(format!(
            "the input doesn't fit in memory, and there is no place beside it: {missing}"
        ))
    }

    /// Its file, if it is one; a world can hold further files.
    pub(crate) fn file(&self) -> Option<&Arc<DeviceFile>> {
        match &self.kind {
            Kind::File(file) => Some(file),
            Kind::Target(_) => None,
        }
    }
}

fn name_of(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

fn failed_in(folder: &Path, what: &str) -> CliError {
    let place = name_of(folder);
    CliError::failed(format!("temporary data in {place}: {what}; --temporary names another place"))
}

fn world(file: &Arc<DeviceFile>) -> Result<(Box<dyn Io>, Device), CliError> {
    let (io, mut devices) = world_of(&[file])?;
    let Some(device) = devices.pop() else { unreachable!("it was added") };
    Ok((io, device))
}

/// Creates a world with these files, numbered in order.
pub(crate) fn world_of(files: &[&Arc<DeviceFile>]) -> Result<(Box<dyn Io>, Vec<Device>), CliError> {
    let mut world = FileWorld::new(SLOTS).map_err(|error| CliError::failed(error.to_string()))?;
    let devices = files.iter().map(|file| world.add(Arc::clone(file))).collect();
    Ok((world.into_io(), devices))
}

fn beside_the_output(output: Option<&Path>) -> PathBuf {
    let folder = output.and_then(Path::parent).filter(|folder| folder.is_dir());
    // `/dev/null` and similar have no usable directory.
    folder.filter(|folder| !folder.starts_with("/dev")).unwrap_or(Path::new(".")).to_owned()
}
