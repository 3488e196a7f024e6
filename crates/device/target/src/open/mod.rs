//! Opening what was named: a path becomes a leaf, after the checks that keep foreign data safe.

mod directory;
mod file;
mod holes;
mod kept;
mod model;
mod named;
mod raw;
mod room;
mod scratch;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

pub(crate) use directory::unnamed;
pub(crate) use kept::KeptFile;
pub(crate) use named::NameGuard;
pub(crate) use room::{allocate, check as check_room};
pub(crate) use scratch::Scratch;

use nandle_io::{DeviceFile, FileOptions, Nanos};

use crate::facts;
use crate::spec::TargetSpec;
use crate::target::Leaf;
use crate::{IoChoice, Problem};

/// No test says anything about a device with less to address.
pub(crate) const SMALLEST_AREA_BYTES: u64 = 1 << 20;
/// Test files are whole multiples of this, so that every device's logical block divides them.
const BLOCK_BYTES: u64 = 4096;

/// How a target is to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "permissions that users give one by one")]
pub struct OpenOptions {
    /// Which world its requests go through.
    pub io: IoChoice,
    /// Bypass the page cache where the target can.
    pub direct: bool,
    /// What the tests will do.
    pub intent: Intent,
    /// Size of a directory's test file; rounded down to whole blocks of 4 KiB.
    pub test_file_bytes: u64,
    /// The user said that a file's contents may be lost. A file that doesn't exist is then made, and kept.
    pub overwrite: bool,
    /// The user said that a raw device's contents may be lost.
    pub destroy_data: bool,
    /// What a request to a modelled drive costs its host's processor; a default when the user says nothing.
    pub request_cpu: Option<Nanos>,
    /// What modelled drives keep of what is written to them.
    pub model_contents: ModelContents,
}

/// What tests will do to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intent {
    /// Read from it. A fresh test file is written all the same, before it is read.
    #[default]
    Read,
    /// Write to it.
    Write,
}

/// What modelled drives keep of what is written to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelContents {
    /// Nothing, so that reads bring anything, unless the target names faults: enough where only time is measured, and
    /// much faster.
    #[default]
    None,
    /// All of it, in memory.
    Kept,
}

impl OpenOptions {
    /// What a request to a modelled drive costs.
    pub(crate) fn model_request_cpu(&self) -> Nanos {
        self.request_cpu.unwrap_or(nandle_model::world::Host::REQUEST_CPU)
    }
}

impl Default for OpenOptions {
    /// Reading with direct I/O, with a test file of 4 GiB; nothing foreign may be lost.
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
        // `leaves` has taken these apart.
        TargetSpec::Repeat { .. } | TargetSpec::Array(_) => {
            Err(Problem::NotJoined { count: spec.leaves().len() })
        }
    }
}

/// Makes a device of an open file, with what a reader of figures should know of what is below it.
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
        raw::open(path, options)
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
