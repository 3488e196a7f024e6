//! One process has a store open.

use std::fs::TryLockError;
use std::sync::Arc;
use std::time::Duration;

use nandle_io::DeviceFile;

use crate::PageError;

/// How often a lock is asked for, and how long after one another: for a second. The kernel takes the ring of a killed
/// process apart after the process has ended, and until then, up to half a second, its file stays locked.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A file that nobody else may open as a store.
pub(super) struct Locked(Arc<DeviceFile>);

impl Locked {
    /// Locks it: against everybody, or, to read only, against those who write.
    pub(super) fn take(file: Arc<DeviceFile>, read_only: bool) -> Result<Self, PageError> {
        for _ in 0..TRIES {
            let locked = if read_only { file.file().try_lock_shared() } else { file.file().try_lock() };
            match locked {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => {
                    return Err(PageError::Thread { why: format!("locking the file: {error}") });
                }
            }
        }
        Err(PageError::Locked)
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
