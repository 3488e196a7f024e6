//! Raw block device as a target. Its contents are foreign data unless the user explicitly states
//! otherwise.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Intent;
use crate::facts::{self, BlockDevice};
use crate::roots::Roots;
use crate::target::{Backing, Leaf, TargetKind};
use crate::{OpenOptions, Problem};

pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let file = match options.intent {
        Intent::Read => File::open(path).map_err(Problem::system("opening it for reading"))?,
        Intent::Write => open_for_writing(path, options)?,
    };
    let more_remarks = read_remarks(&file, options);
    let (file, mut remarks) = super::device(file, options)?;
    remarks.extend(more_remarks);
    Ok(Leaf {
        path: path.into(),
        kind: TargetKind::BlockDevice,
        backing: Backing::File(Arc::new(file)),
        needs_fill: false,
        remarks,
        kept: None,
        guard: None,
        lock: None,
        _scratch: None,
    })
}

/// Opens an unused device exclusively. With `O_EXCL` the kernel refuses mounts while it is open. It
/// also refuses the open if another process was faster or isn't visible from here.
fn open_for_writing(path: &Path, options: &OpenOptions) -> Result<File, Problem> {
    if !options.destroy_data {
        return Err(Problem::DestroysData);
    }
    // The uses are checked before opening, since the kernel only reports "busy".
    let looked_at = std::fs::metadata(path).map_err(Problem::system("looking at it"))?;
    refuse_if_used(looked_at.rdev())?;
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let action = "opening it for writing, for this process alone";
    let file: File = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => descriptor.into(),
        Err(errno @ Errno::BUSY) => {
            refuse_if_used(looked_at.rdev())?;
            return Err(Problem::System { action, errno });
        }
        Err(errno) => return Err(Problem::System { action, errno }),
    };
    // The name may lead to something else by now.
    let opened = file.metadata().map_err(Problem::system("looking at it"))?;
    if !opened.file_type().is_block_device() || opened.rdev() != looked_at.rdev() {
        return Err(Problem::System { action, errno: Errno::STALE });
    }
    refuse_if_used(opened.rdev())?;
    Ok(file)
}

fn refuse_if_used(device: u64) -> Result<(), Problem> {
    let used = uses(device);
    if used.is_empty() { Ok(()) } else { Err(Problem::InUse { used: used.join(", and ") }) }
}

fn uses(device: u64) -> Vec<String> {
    let roots = Roots::default();
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    BlockDevice::find(&roots, number).map_or_else(Vec::new, |device| facts::uses(&roots, &device))
}

/// Remarks for the reader of the figures if the device was only read.
fn read_remarks(file: &File, options: &OpenOptions) -> Vec<String> {
    if options.intent == Intent::Write {
        return Vec::new();
    }
    let used = file.metadata().map(|metadata| uses(metadata.rdev())).unwrap_or_default();
    let used = used.iter().map(|used| format!("{used}: other load on it affects the figures"));
    let unwritten = "reads of blocks that were never written, or were discarded, may not reach the medium";
    used.chain([unwritten.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_name_replaced_by_a_file_is_not_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = OpenOptions { intent: Intent::Write, destroy_data: true, ..OpenOptions::default() };
        let refused = open(file.path(), &options).unwrap_err();
        assert!(matches!(refused, Problem::System { errno: Errno::STALE, .. }), "{refused}");
    }
}
