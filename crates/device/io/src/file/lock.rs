use std::fs::TryLockError;
use std::time::Duration;

use super::DeviceFile;

/// How often a lock is asked for, and how long after one another: for a second. The kernel takes the ring of a killed
/// process apart after the process has ended, and until then, up to half a second, its file stays locked.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

impl DeviceFile {
    /// Locks the file for this process (`flock(2)`): exclusively, or `shared`. Waits a
    /// second for a process that is about to let it go; returns whether it has the lock.
    ///
    /// # Errors
    /// The file system has no locks.
    pub fn lock(&self, shared: bool) -> std::io::Result<bool> {
        for _ in 0..TRIES {
            let locked = if shared { self.file.try_lock_shared() } else { self.file.try_lock() };
            match locked {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(false)
    }
}
