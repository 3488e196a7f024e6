//! Opening of targets: turns a path into a leaf, after checks that protect foreign data.

mod directory;
mod file;
mod holes;
mod kept_file;
mod model;
mod named_file;
mod raw_device;
mod room;
mod scratch;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

pub(crate) use directory::unnamed;
pub(crate) use kept_file::KeptFile;
pub(crate) use named_file::NameGuard;
pub(crate) use room::{allocate, check as check_room};
pub(crate) use scratch::Scratch;

use nandle_io::{DeviceFile, FileOptions, Nanos};

use crate::facts;
use crate::spec::TargetSpec;
use crate::target::Leaf;
use crate::{IoChoice, Problem};

/// Smallest useful area of a test.
pub(crate) const SMALLEST_AREA_BYTES: u64 = 1 << 20;
/// Unit of test file sizes, a multiple of every logical block size.
const BLOCK_BYTES: u64 = 4096;

/// Parameters for opening a target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "separate permissions of the user")]
pub struct OpenOptions {
    /// I/O interface of the requests.
    pub io: IoChoice,
    /// True to bypass the page cache, if supported.
    pub direct: bool,
    /// Intended use.
    pub intent: Intent,
    /// Size of the test file in a directory, rounded down to blocks of 4 KiB.
    pub test_file_bytes: u64,
    /// True if a file's contents may be overwritten. A missing file is then created and kept.
    pub overwrite: bool,
    /// True if a raw device's contents may be overwritten.
    pub destroy_data: bool,
    /// Host processor time per request of a modelled drive; `None` for the default.
    pub request_cpu: Option<Nanos>,
    /// Contents stored by modelled drives.
    pub model_contents: ModelContents,
}

/// Intended use of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intent {
    /// Reads only. A new test file is filled all the same.
    #[default]
    Read,
    /// Writes.
    Write,
}

/// Contents stored by modelled drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelContents {
    /// No contents, unless the target has faults. Reads then return arbitrary data, which suffices
    /// to measure time and is much faster.
    #[default]
    None,
    /// All written contents, in memory.
    Kept,
}

impl OpenOptions {
    /// Host processor time per request of a modelled drive.
    pub(crate) fn model_request_cpu(&self) -> Nanos {
        self.request_cpu.unwrap_or(nandle_model::world::Host::REQUEST_CPU)
    }
}

impl Default for OpenOptions {
    /// Reads with direct I/O, a test file of 4 GiB, no overwriting.
    fn default() -> Self {
        Self {
            io: IoChoice::Auto,
            direct: true,
            intent: Intent::Read,
            test_file_bytes: 4 << 30,
            overwrite: false,
            destroy_data: false,
            request_cpu: None,
            model_contents: ModelContents::default(),
        }
    }
}

/// Opens one leaf of a target.
pub(crate) fn open_leaf(spec: &TargetSpec, options: &OpenOptions) -> Result<Leaf, Problem> {
    match spec {
        TargetSpec::Path(_) if options.request_cpu.is_some() => Err(Problem::ForModelsAlone),
        TargetSpec::Path(path) => open_path(path, options)?.check_area(),
        TargetSpec::Model(model) => model::open(model, options),
        // `leaves` has expanded these.
        TargetSpec::Repeat { .. } | TargetSpec::Array(_) => {
            Err(Problem::NotJoined { count: spec.leaves().len() })
        }
    }
}

/// Creates a device from an open file, with remarks about the devices below it.
fn device(file: File, options: &OpenOptions) -> Result<(DeviceFile, Vec<String>), Problem> {
    let mut remarks = facts::stack_remarks(&file);
    let durable_writes = facts::durable_writes(&file);
    let file_options = FileOptions { direct: options.direct, durable_writes, punch_holes: true };
    let device = DeviceFile::new(file, file_options).map_err(Problem::Device)?;
    remarks.extend(device.beside_the_device().map(Into::into));
    Ok((device, remarks))
}

fn open_path(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let kind = match fs::metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return missing(path, options);
        }
        Err(error) => return Err(Problem::system("looking at it")(error)),
    };
    let mut leaf = if kind.is_dir() {
        directory::open(path, options)
    } else if kind.is_file() {
        file::open(path, options)
    } else if kind.is_block_device() {
        raw_device::open(path, options)
    } else {
        Err(Problem::Kind { kind: kind_name(kind) })
    }?;
    leaf.remarks.extend(link_remark(path));
    Ok(leaf)
}

fn missing(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    if let Ok(to) = fs::read_link(path) {
        return Err(Problem::DanglingLink { to });
    }
    let parent = path.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent });
    if options.overwrite && parent.is_some_and(Path::is_dir) && path.file_name().is_some() {
        return file::create(path, options);
    }
    Err(Problem::NotFound { nearest: nearest_directory(path) })
}

fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .map(|above| if above == Path::new("") { Path::new(".") } else { above })
        .find(|above| above.is_dir())
        .map(Into::into)
}

fn link_remark(path: &Path) -> Option<String> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let to = fs::canonicalize(path).ok().filter(|_| is_link)?;
    Some(format!("{} is a symbolic link to {}", path.display(), to.display()))
}

fn kind_name(kind: fs::FileType) -> &'static str {
    if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else if kind.is_char_device() {
        "character device"
    } else {
        "special file"
    }
}
