//! Directory as a target: creates a test file, unnamed if the file system supports that.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::named_file::{self, NamedFile};
use super::{Scratch, room};
use crate::target::{Backing, Leaf, TargetKind};
use crate::{OpenOptions, Problem};

/// Opens a new test file in a directory. Its space is reserved, but nothing is written yet.
pub(super) fn open(directory: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let wanted_bytes = room::wanted_bytes(directory, options)?;
    let NamedFile { file, guard, mut remarks } = match unnamed(directory)? {
        Some(file) => NamedFile { file, guard: None, remarks: Vec::new() },
        None => named_file::create(directory)?,
    };
    remarks.extend(room::allocate(&file, wanted_bytes)?);
    let scratch = Scratch::of(&file)?;
    let (file, more_remarks) = super::device(file, options)?;
    remarks.extend(more_remarks);
    Ok(Leaf {
        path: directory.into(),
        kind: TargetKind::TestFile,
        backing: Backing::File(Arc::new(file)),
        needs_fill: true,
        remarks,
        kept: None,
        guard,
        lock: None,
        _scratch: Some(scratch),
    })
}

/// Creates an unnamed file, which disappears with its last descriptor, even if the process is
/// killed. `None` if the file system doesn't support that.
pub(crate) fn unnamed(directory: &Path) -> Result<Option<File>, Problem> {
    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(descriptor) => Ok(Some(descriptor.into())),
        // Kernels and file systems that don't support the flag return the last one, as for opening
        // a directory.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR) => Ok(None),
        Err(errno) => Err(Problem::System { action: "making a test file in it", errno }),
    }
}
