//! A directory: a test file of its own, which has no name where the file system allows that.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::named::{self, NamedFile};
use super::{Scratch, room};
use crate::target::{Backing, Leaf, TargetKind};
use crate::{OpenOptions, Problem};

/// Opens a fresh test file in a directory. Its space is reserved, its contents are not written yet.
pub(super) fn open(directory: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let wanted_bytes = room::wanted_bytes(directory, options)?;
    let NamedFile { file, guard, mut remarks } = match unnamed(directory)? {
        Some(file) => NamedFile { file, guard: None, remarks: Vec::new() },
        None => named::create(directory)?,
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

/// A file without a name, gone with its last descriptor even when the process is killed; `None` where the file
/// system has none.
pub(crate) fn unnamed(directory: &Path) -> Result<Option<File>, Problem> {
    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(descriptor) => Ok(Some(descriptor.into())),
        // The last one is what kernels and file systems that don't know the flag say of opening a directory.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR) => Ok(None),
        Err(errno) => Err(Problem::System { action: "making a test file in it", errno }),
    }
}
