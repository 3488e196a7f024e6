//! Files of a conversion, and their names.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use nandle_io::{Cause, DeviceFile, FileOptions};
use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};
use rustix::io::Errno;

use crate::PageError;
use crate::defects::Defect;
use crate::file_store::file::{failed, label_of, reserve, sync_folder};
use crate::file_store::found::Contents;
use crate::label::Label;

const COPYING: &str = "copying the store to its present format in";
const EXCHANGING: &str = "giving the converted store the name";
/// Unit of a file's block count.
const SECTOR_BYTES: u64 = 512;

/// Length of the copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyLength {
    pub(super) bytes: u64,
    /// Bytes outside the places of pages. A new store writes most of them.
    pub(super) beside_pages_bytes: u64,
}

/// Paths of a conversion.
pub(super) struct Place {
    /// Path of the store, without symbolic links.
    path: PathBuf,
    copy: PathBuf,
    /// Version of the old store.
    version: u32,
}

impl Place {
    pub(super) fn of(path: &Path, version: u32) -> Result<Self, PageError> {
        let path = path.canonicalize().map_err(|error| failed("finding the store's file", path, &error))?;
        let mut copy = path.clone().into_os_string();
        copy.push(".converting");
        Ok(Self { path, copy: copy.into(), version })
    }

    /// Opens the old store's file, also for writing, as some systems require that for an exclusive
    /// lock.
    pub(super) fn open(&self) -> Result<DeviceFile, PageError> {
        let file = File::options().read(true).write(true).open(&self.path);
        device(&self.path, file.map_err(|error| failed("opening the store's file", &self.path, &error))?)
    }

    /// Removes the remains of an interrupted conversion of this store, and nothing else.
    pub(super) fn remove_copy(&self, label: &Label) -> Result<(), PageError> {
        let occupied = |why: &str| PageError::File {
            action: COPYING,
            path: self.copy.clone(),
            kind: ErrorKind::AlreadyExists,
            why: format!("{why}; move it away first"),
        };
        let Some(metadata) = self.copy_metadata()? else { return Ok(()) };
        if !metadata.is_file() {
            return Err(occupied("it is no file"));
        }
        let file = File::open(&self.copy).map_err(|error| failed(COPYING, &self.copy, &error))?;
        let contents = Contents::of(&file).map_err(|error| failed(COPYING, &self.copy, &error))?;
        match contents {
            Contents::Nothing | Contents::HalfMade => {}
            Contents::Store if label_of(&file).is_some_and(|copy| copy.id == label.id) => {}
            Contents::Store => return Err(occupied("it holds another store")),
            Contents::Other => return Err(occupied("it holds something else")),
        }
        std::fs::remove_file(&self.copy).map_err(|error| failed(COPYING, &self.copy, &error))
    }

    fn copy_metadata(&self) -> Result<Option<Metadata>, PageError> {
        match std::fs::symlink_metadata(&self.copy) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(COPYING, &self.copy, &error)),
        }
    }

    /// Makes a new file for the copy. Its blocks are reserved if those of the old file are.
    pub(super) fn make_copy(&self, old: &File, length: CopyLength) -> Result<DeviceFile, PageError> {
        let failed = |error: Error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => self.no_space(old, length),
            _ => failed(COPYING, &self.copy, &error),
        };
        let metadata = old.metadata().map_err(failed)?;
        let needed_bytes = needed_bytes(&metadata, length);
        if free_bytes(&self.path).is_some_and(|free_bytes| free_bytes < needed_bytes) {
            return Err(self.no_space(old, length));
        }
        // Private until it has its final permissions.
        let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&self.copy);
        let file = file.map_err(failed)?;
        if is_reserved(&metadata) {
            reserve(&file, length.bytes).map_err(failed)?;
        } else {
            file.set_len(length.bytes).map_err(failed)?;
        }
        device(&self.copy, file)
    }

    fn no_space(&self, old: &File, length: CopyLength) -> PageError {
        let needed_bytes = old.metadata().map_or(length.bytes, |metadata| needed_bytes(&metadata, length));
        // The copy is removed, which frees its space.
        let copy_bytes = std::fs::symlink_metadata(&self.copy).map_or(0, |copy| block_bytes(&copy));
        let free_bytes = free_bytes(&self.path).map(|free_bytes| free_bytes.saturating_add(copy_bytes));
        PageError::ConversionSpace {
            path: self.path.clone(),
            version: self.version,
            needed_bytes,
            free_bytes,
        }
    }

    /// Turns an error of writing the copy into one about space if the disk is full.
    pub(super) fn full_or(&self, old: &File, length: CopyLength, error: PageError) -> PageError {
        let is_full = |cause: &Cause| {
            [Errno::NOSPC, Errno::DQUOT].iter().any(|full| *cause == Cause::System(full.raw_os_error()))
        };
        match error.of_opening() {
            PageError::Device { source, .. } if is_full(&source.cause) => self.no_space(old, length),
            error => error,
        }
    }

    /// Gives the copy the owner and permissions of the old file, durably.
    pub(super) fn keep_owner(&self, old: &File, copy: &File) -> Result<(), PageError> {
        let keep = || {
            let (old, new) = (old.metadata()?, copy.metadata()?);
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                fchown(copy, Some(old.uid()), Some(old.gid()))?;
            }
            copy.set_permissions(old.permissions())?;
            copy.sync_all()
        };
        keep().map_err(|error| failed("keeping owner and permissions of the store in", &self.copy, &error))
    }

    /// Exchanges the names of the store and its copy, durably, and removes the old store. A failure
    /// leaves the old state.
    pub(super) fn exchange(&self) -> Result<(), PageError> {
        let failed = |error: Error| failed(EXCHANGING, &self.path, &error);
        let is_exchanged = self.rename().inspect_err(|_| self.discard_copy()).map_err(failed)?;
        if let Err(error) = self.sync_names() {
            // If this fails too, both files remain, and the next opening completes the conversion.
            if is_exchanged && self.rename().is_ok() {
                self.discard_copy();
            }
            return Err(failed(error));
        }
        self.discard_copy();
        Ok(())
    }

    fn sync_names(&self) -> Result<(), Error> {
        if Defect::ConversionUnsynced.is_seeded() { Ok(()) } else { sync_folder(&self.path) }
    }

    /// Gives the copy the store's name. Returns true if the old store has the copy's name. On file
    /// systems that can't exchange names the old store is gone.
    fn rename(&self) -> Result<bool, Error> {
        match renameat_with(CWD, &self.copy, CWD, &self.path, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                std::fs::rename(&self.copy, &self.path)?;
                Ok(false)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Completes a conversion that was interrupted after the copy took the store's name.
    pub(super) fn end(&self) -> Result<(), PageError> {
        let is_file = |metadata: Metadata| metadata.is_file();
        if !self.copy_metadata()?.is_some_and(is_file) {
            return Ok(());
        }
        let label = |path: &Path| File::open(path).ok().as_ref().and_then(label_of);
        let (Some(store), Some(old)) = (label(&self.path), label(&self.copy)) else { return Ok(()) };
        if store.id != old.id || !old.is_earlier() {
            return Ok(());
        }
        self.sync_names().map_err(|error| failed(EXCHANGING, &self.path, &error))?;
        self.discard_copy();
        Ok(())
    }

    /// Removes the file with the copy's name: the copy, or the old store.
    pub(super) fn discard_copy(&self) {
        // On failure the next conversion or opening removes it.
        let _ = std::fs::remove_file(&self.copy);
    }

    /// Adds the action to an error, unless it already names one.
    pub(super) fn named(&self, error: PageError) -> PageError {
        match error {
            error @ (PageError::ConversionSpace { .. } | PageError::Locked | PageError::File { .. }) => error,
            error => {
                let (path, source) = (self.path.clone(), Box::new(error));
                PageError::Conversion { path, version: self.version, source }
            }
        }
    }
}

fn device(path: &Path, file: File) -> Result<DeviceFile, PageError> {
    DeviceFile::new(file, FileOptions::default()).map_err(|error| PageError::File {
        action: "using the store's file",
        path: path.into(),
        kind: ErrorKind::Unsupported,
        why: error.to_string(),
    })
}

/// Bytes of a file's allocated blocks.
fn block_bytes(metadata: &Metadata) -> u64 {
    metadata.blocks().saturating_mul(SECTOR_BYTES)
}

/// Returns true if a file has no holes.
fn is_reserved(metadata: &Metadata) -> bool {
    block_bytes(metadata) >= metadata.len()
}

/// Maximum bytes of the copy of a file. A sparse file stays sparse, except for the parts that a new
/// store writes.
fn needed_bytes(metadata: &Metadata, length: CopyLength) -> u64 {
    let CopyLength { bytes, beside_pages_bytes } = length;
    if is_reserved(metadata) {
        bytes
    } else {
        bytes.min(block_bytes(metadata).saturating_add(beside_pages_bytes))
    }
}

/// Free bytes of the file system; `None` if unknown.
fn free_bytes(path: &Path) -> Option<u64> {
    let space = statvfs(path).ok().filter(|space| space.f_blocks > 0)?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}
