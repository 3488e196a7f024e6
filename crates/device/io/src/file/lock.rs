use std::fs::TryLockError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::DeviceFile;

/// Number of attempts to lock, with a pause between them: a second in all. The kernel tears down a
/// killed process's ring after the process has ended; until then, for up to half a second, its file
/// stays locked.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Locks that this process holds through one open file: the number of shared ones, or [`ALONE`].
/// The kernel's lock belongs to the open file, so it excludes other processes, but not other users
/// of one [`DeviceFile`].
#[derive(Debug, Default)]
pub(super) struct Locks(AtomicU32);

const ALONE: u32 = u32::MAX;

impl Locks {
    fn take(&self, shared: bool) -> bool {
        let more = |held| match held {
            0 if !shared => Some(ALONE),
            ALONE => None,
            held => shared.then_some(held + 1),
        };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Releases a lock; returns true if it was the last.
    fn give_back(&self) -> bool {
        let fewer = |held| Some(if held == ALONE { 0 } else { held - 1 });
        matches!(self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer), Ok(1 | ALONE))
    }
}

/// Lock on a file, released when dropped.
#[derive(Debug)]
pub struct FileLock(Arc<DeviceFile>);

impl FileLock {
    /// Locks a file (`flock(2)`), `shared` or exclusively, against other processes and other users
    /// of the same [`DeviceFile`]. Waits a second for another process to release it, then returns
    /// `None`.
    ///
    /// # Errors
    /// Fails if the file system has no locks.
    pub fn take(file: Arc<DeviceFile>, shared: bool) -> std::io::Result<Option<Self>> {
        if !file.locks.take(shared) {
            return Ok(None);
        }
        let locked = lock(&file, shared);
        if !matches!(locked, Ok(true)) {
            file.locks.give_back();
        }
        Ok(locked?.then(|| Self(file)))
    }

    /// Locked file.
    pub const fn file(&self) -> &Arc<DeviceFile> {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.0.locks.give_back() {
            // The kernel may keep the file open longer than this process. If unlocking fails, the
            // lock ends with that.
            let _ = self.0.file.unlock();
        }
    }
}

fn lock(file: &DeviceFile, shared: bool) -> std::io::Result<bool> {
    for _ in 0..TRIES {
        let locked = if shared { file.file.try_lock_shared() } else { file.file.try_lock() };
        match locked {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use crate::FileOptions;

    use super::*;

    fn file() -> Arc<DeviceFile> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        Arc::new(DeviceFile::new(file, FileOptions { direct: false, ..FileOptions::default() }).unwrap())
    }

    #[test]
    fn one_open_file_is_locked_once() {
        let file = file();
        let first = FileLock::take(Arc::clone(&file), false).unwrap();
        assert!(first.is_some());
        assert!(FileLock::take(Arc::clone(&file), false).unwrap().is_none());
        assert!(FileLock::take(Arc::clone(&file), true).unwrap().is_none());
        drop(first);
        assert!(FileLock::take(Arc::clone(&file), false).unwrap().is_some());
    }

    #[test]
    fn shared_locks_last_as_long_as_the_last_of_them() {
        let file = file();
        let first = FileLock::take(Arc::clone(&file), true).unwrap();
        let second = FileLock::take(Arc::clone(&file), true).unwrap();
        assert!(first.is_some() && second.is_some());
        drop(first);
        assert!(FileLock::take(Arc::clone(&file), false).unwrap().is_none());
        drop(second);
        assert!(FileLock::take(Arc::clone(&file), false).unwrap().is_some());
    }
}
