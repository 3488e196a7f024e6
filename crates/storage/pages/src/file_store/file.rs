//! The file of a store: made as a whole or not at all, long enough, with its blocks.

use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_io::{Access, DeviceFile, FileOptions};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::PageError;

/// A file that a store is in.
pub(super) struct StoreFile {
    path: PathBuf,
    device: Arc<DeviceFile>,
    /// Why its blocks aren't reserved.
    unreserved: Option<String>,
}

impl StoreFile {
    /// Makes a new file of this length, with what `fill` makes in it. If that fails there is no file.
    pub(super) fn make<T>(
        path: &Path,
        bytes: u64,
        fill: impl FnOnce(&Self) -> Result<T, PageError>,
    ) -> Result<(Self, T), PageError> {
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let file = file.map_err(|error| failed("making the store's file", path, &error))?;
        let made = Self::reserved(path, file, bytes).and_then(|file| {
            let filled = fill(&file)?;
            sync_folder(path).map_err(|error| failed("making durable that there is", path, &error))?;
            Ok((file, filled))
        });
        if made.is_err() {
            // What can't be removed is a file without a store, which an opening says.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    fn reserved(path: &Path, file: File, bytes: u64) -> Result<Self, PageError> {
        let unreserved =
            reserve(&file, bytes).map_err(|error| failed("reserving space for", path, &error))?;
        Self::of(path, file, unreserved)
    }

    /// Opens one that is there.
    pub(super) fn open(path: &Path, read_only: bool) -> Result<Self, PageError> {
        let file = File::options().read(true).write(!read_only).open(path);
        Self::of(path, file.map_err(|error| failed("opening the store's file", path, &error))?, None)
    }

    fn of(path: &Path, file: File, unreserved: Option<String>) -> Result<Self, PageError> {
        let device = DeviceFile::new(file, FileOptions::default()).map_err(|error| {
            let (path, why) = (path.into(), error.to_string());
            PageError::File { action: "using the store's file", path, kind: ErrorKind::Unsupported, why }
        })?;
        Ok(Self { path: path.into(), device: Arc::new(device), unreserved })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn device(&self) -> Arc<DeviceFile> {
        Arc::clone(&self.device)
    }

    /// What it had to give up.
    pub(super) fn given_up(&self) -> impl Iterator<Item = String> {
        let buffered = match &self.device.shape().access {
            Access::Direct => None,
            Access::Buffered { reason } => Some(format!("no direct I/O: {reason}")),
        };
        buffered.into_iter().chain(self.unreserved.clone())
    }
}

/// Makes the file so long, with its blocks; or says why those can't be had beforehand.
fn reserve(file: &File, bytes: u64) -> Result<Option<String>, Error> {
    let refused = match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => None,
        Err(refused @ (Errno::OPNOTSUPP | Errno::NOSYS)) => {
            file.set_len(bytes)?;
            Some(format!("no space reserved, so a full disk can stop the store: {}", Error::from(refused)))
        }
        Err(errno) => return Err(errno.into()),
    };
    file.sync_all()?;
    Ok(refused)
}

fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn failed(action: &'static str, path: &Path, error: &Error) -> PageError {
    let mend = match error.kind() {
        ErrorKind::AlreadyExists => "; open the store that it may hold, or remove it first",
        ErrorKind::NotFound => "; create the store first, or name the right folder",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; free space, or take fewer pages",
        ErrorKind::FileTooLarge => "; take fewer pages, or another file system",
        _ => "",
    };
    PageError::File { action, path: path.into(), kind: error.kind(), why: format!("{error}{mend}") }
}
