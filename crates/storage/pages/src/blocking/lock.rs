//! Lock that admits one opening of a store.

use std::sync::Arc;

use nandle_io::{DeviceFile, FileLock};

use crate::PageError;

/// Locks a store's file: exclusively, or shared for reading only.
pub(super) fn lock(file: Arc<DeviceFile>, read_only: bool) -> Result<FileLock, PageError> {
    match FileLock::take(file, read_only) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(PageError::Locked),
        Err(error) => Err(PageError::Thread { why: format!("locking the file: {error}") }),
    }
}
