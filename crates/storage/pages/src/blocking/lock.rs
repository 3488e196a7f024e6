//! One process at a time has a store open.

use std::sync::Arc;

use nandle_io::DeviceFile;

use crate::PageError;

/// A file that no other process may open as a store.
pub(super) struct Locked(Arc<DeviceFile>);

impl Locked {
    /// Locks it: against all others, or, to read only, against those that write.
    pub(super) fn take(file: Arc<DeviceFile>, read_only: bool) -> Result<Self, PageError> {
        match file.lock(read_only) {
            Ok(true) => Ok(Self(file)),
            Ok(false) => Err(PageError::Locked),
            Err(error) => Err(PageError::Thread { why: format!("locking the file: {error}") }),
        }
    }

    pub(super) fn file(&self) -> Arc<DeviceFile> {
        Arc::clone(&self.0)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // The kernel may hold the file open longer than we do. If this fails the lock ends with that.
        let _ = self.0.file().unlock();
    }
}
