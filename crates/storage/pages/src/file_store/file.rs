//! File of a store: created entirely or not at all, with sufficient length and reserved blocks.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nandle_io::{Access, DeviceFile, FileOptions};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::found::{self, Contents};
use crate::label::Label;
use crate::{BLOCK_BYTES, PageError};

/// Maximum length of a file.
const LONGEST_BYTES: u64 = i64::MAX as u64;

/// File that contains a store.
pub(super) struct StoreFile {
    path: PathBuf,
    device: Arc<DeviceFile>,
    /// Serialises extensions.
    extending: Mutex<()>,
    /// Reason why its blocks aren't reserved.
    unreserved: Option<String>,
    is_read_only: bool,
}

impl StoreFile {
    /// Makes a new file of this length, and runs `create` in it. Removes the file on failure.
    pub(super) fn make<T>(
        path: &Path,
        bytes: u64,
        create: impl FnOnce(&Self) -> Result<T, PageError>,
    ) -> Result<(Self, T), PageError> {
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let file = file.map_err(|error| refused_or_failed(path, &error))?;
        // Another process may see the empty file and create a store in it, which then owns it.
        found::lock(&file)?;
        Self::fill(path, file, bytes, create)
    }

    /// Reuses a file that is empty or holds an incomplete store. Returns `None` if it was removed
    /// meanwhile.
    pub(super) fn make_again<T>(
        path: &Path,
        bytes: u64,
        create: impl FnOnce(&Self) -> Result<T, PageError>,
    ) -> Result<Option<(Self, T)>, PageError> {
        let making = "making the store's file again";
        let failed = |error| failed(making, path, &error);
        let file = File::options().read(true).write(true).open(path).map_err(failed)?;
        found::lock(&file)?;
        if !found::is_at(path, &file) {
            return Ok(None);
        }
        match Contents::of(&file).map_err(failed)? {
            Contents::Nothing | Contents::HalfMade => {}
            // Another process created the store during the wait for the lock.
            Contents::Store => return Ok(None),
            other @ Contents::Other => return Err(occupied(making, path, other)),
        }
        file.set_len(0).map_err(failed)?;
        Self::fill(path, file, bytes, create).map(Some)
    }

    /// Fills an empty, locked file by `create`. Removes the file on failure.
    fn fill<T>(
        path: &Path,
        file: File,
        bytes: u64,
        create: impl FnOnce(&Self) -> Result<T, PageError>,
    ) -> Result<(Self, T), PageError> {
        let made = Self::reserved(path, file, bytes).and_then(|file| {
            let created = create(&file)?;
            sync_folder(path).map_err(|error| failed("making durable that there is", path, &error))?;
            Ok((file, created))
        });
        if made.is_err() {
            // If this fails too, a later opening reports a file without a store.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    fn reserved(path: &Path, file: File, bytes: u64) -> Result<Self, PageError> {
        let unreserved =
            reserve(&file, bytes).map_err(|error| failed("reserving space for", path, &error))?;
        Ok(Self { unreserved, ..Self::of(path, file)? })
    }

    /// Opens an existing file.
    pub(super) fn open(path: &Path, read_only: bool) -> Result<Self, PageError> {
        let failed = |error| failed("opening the store's file", path, &error);
        let file = File::options().read(true).write(!read_only).open(path).map_err(failed)?;
        check_length(path, &file, &file.metadata().map_err(failed)?)?;
        Ok(Self { is_read_only: read_only, ..Self::of(path, file)? })
    }

    fn of(path: &Path, file: File) -> Result<Self, PageError> {
        let device = DeviceFile::new(file, FileOptions::default()).map_err(|error| {
            let (path, why) = (path.into(), error.to_string());
            PageError::File { action: "using the store's file", path, kind: ErrorKind::Unsupported, why }
        })?;
        let is_file = device.file().metadata().is_ok_and(|metadata| metadata.is_file());
        // Permits growth while the store is open.
        let device = if is_file { device.growing_to(LONGEST_BYTES) } else { device };
        let (device, extending) = (Arc::new(device), Mutex::default());
        Ok(Self { path: path.into(), device, extending, unreserved: None, is_read_only: false })
    }

    /// Extends the file to at least this length, with reserved blocks; changes nothing on failure.
    /// The store makes the length durable. A sync here would consume errors that its flushes must
    /// see, because the system reports each once per open file.
    pub(super) fn extend(&self, bytes: u64) -> Result<(), PageError> {
        if self.is_read_only {
            return Err(PageError::ReadOnly);
        }
        let _mine = self.extending.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.device.file();
        let failed = |error| failed("reserving space for", &self.path, &error);
        let metadata = file.metadata().map_err(failed)?;
        // A block device has a fixed length, which the store checks.
        if !metadata.is_file() || metadata.len() >= bytes {
            return Ok(());
        }
        reserve(file, bytes).map(drop).map_err(|error| {
            // Frees the blocks already reserved. They hold no data, so a failure does no harm.
            let _ = file.set_len(metadata.len());
            failed(error)
        })
    }

    /// Returns true if the path still leads to this file.
    pub(super) fn is_at_path(&self) -> bool {
        found::is_at(&self.path, self.device.file())
    }

    /// Returns true for a regular file, not a device.
    pub(super) fn is_regular(&self) -> bool {
        self.device.file().metadata().is_ok_and(|metadata| metadata.is_file())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn device(&self) -> Arc<DeviceFile> {
        Arc::clone(&self.device)
    }

    /// Adds the path to an error of opening.
    pub(super) fn named(&self, error: PageError) -> PageError {
        match error {
            PageError::NotAStore { found } => PageError::NotAStoreFile { path: self.path.clone(), found },
            error => error,
        }
    }

    /// Features that the system doesn't support.
    pub(super) fn given_up(&self) -> impl Iterator<Item = String> {
        let buffered = match &self.device.shape().access {
            Access::Direct => None,
            Access::Buffered { reason } => Some(format!("no direct I/O: {reason}")),
        };
        buffered.into_iter().chain(self.unreserved.clone())
    }
}

/// Checks that a regular file is as long as its label requires. The store itself can't check this,
/// because its file may grow. It reports all other problems.
fn check_length(path: &Path, file: &File, metadata: &Metadata) -> Result<(), PageError> {
    if !metadata.is_file() {
        return Ok(());
    }
    if metadata.len() < BLOCK_BYTES as u64 {
        return Err(PageError::NotAStoreFile { path: path.into(), found: "it is smaller than a label" });
    }
    label_of(file).map_or(Ok(()), |label| label.check_fits(metadata.len()))
}

/// Label of the store in a file, if a copy can be read.
pub(super) fn label_of(file: &File) -> Option<Label> {
    let length_bytes = file.metadata().ok()?.len();
    found::labels_in(file, length_bytes).ok().map(|copies| copies.label)
}

/// Extends the file and reserves its blocks. Returns the reason if blocks can't be reserved. The
/// store's next flush makes the length durable.
pub(super) fn reserve(file: &File, bytes: u64) -> Result<Option<String>, Error> {
    if bytes > LONGEST_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let refused = match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => None,
        Err(refused @ (Errno::OPNOTSUPP | Errno::NOSYS)) => {
            file.set_len(bytes)?;
            Some(format!("no space reserved, so a full disk can stop the store: {}", Error::from(refused)))
        }
        Err(errno) => return Err(errno.into()),
    };
    debug_assert!(file.metadata().is_ok_and(|file| file.len() >= bytes), "it is {bytes} bytes long at least");
    Ok(refused)
}

/// Error of creating a file: one exists already, or none can be created.
fn refused_or_failed(path: &Path, error: &Error) -> PageError {
    let making = "making the store's file";
    if error.kind() == ErrorKind::AlreadyExists
        && let Ok(contents) = File::open(path).and_then(|file| Contents::of(&file))
    {
        return occupied(making, path, contents);
    }
    if error.kind() == ErrorKind::NotFound {
        let why = format!("{error}; name a folder that is there, or make it first");
        return PageError::File { action: making, path: path.into(), kind: error.kind(), why };
    }
    failed(making, path, error)
}

fn occupied(action: &'static str, path: &Path, contents: Contents) -> PageError {
    PageError::File { action, path: path.into(), kind: ErrorKind::AlreadyExists, why: contents.told().into() }
}

pub(super) fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

pub(super) fn failed(action: &'static str, path: &Path, error: &Error) -> PageError {
    let mend = match error.kind() {
        ErrorKind::AlreadyExists => "; open the store that it may hold, or remove it first",
        ErrorKind::NotFound => "; create the store first, or name the right folder",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; free space, or take fewer pages",
        ErrorKind::FileTooLarge => "; take fewer pages, or another file system",
        _ => "",
    };
    PageError::File { action, path: path.into(), kind: error.kind(), why: format!("{error}{mend}") }
}
