mod on_demand;
mod real;
mod watched;

use std::fmt::Debug;
use std::io::{Error, ErrorKind, Result, Write};
use std::sync::Arc;

pub(crate) use self::on_demand::{ForeignFile, OnDemand};
pub use self::real::RealFiles;
pub use self::watched::{Stopped, Watch, WatchedFiles};

/// File operations of a table, with paths relative to its directory. All writes go through this
/// trait, so that tests can substitute a modelled file system and cut its power at any operation.
pub trait Files: Debug + Send + Sync {
    /// Creates a file, or truncates the existing one.
    ///
    /// # Errors
    /// I/O errors.
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// I/O errors; `NotFound` if there is no such file.
    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>>;

    /// Renames a file and replaces an existing target. Durable once both directories are synced.
    ///
    /// # Errors
    /// I/O errors.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// I/O errors.
    fn remove(&self, path: &str) -> Result<()>;

    /// Creates a directory with its parents. The names of new directories are durable.
    ///
    /// # Errors
    /// I/O errors.
    fn create_dir(&self, path: &str) -> Result<()>;

    /// Makes the names in a directory durable; `""` is the table's own.
    ///
    /// # Errors
    /// I/O errors; the durable state is unknown afterwards.
    fn sync_dir(&self, path: &str) -> Result<()>;

    /// Lists the names of files in a directory, in any order.
    ///
    /// # Errors
    /// I/O errors; `NotFound` if there is no such directory.
    fn list(&self, path: &str) -> Result<Vec<String>>;

    /// Locks a file against other processes and callers, without waiting, until the result is
    /// dropped. Returns `None` if another lock prevents it.
    ///
    /// # Errors
    /// I/O errors; `NotFound` also if the file was removed or replaced in the meantime.
    fn lock(&self, path: &str, sharing: Sharing) -> Result<Option<Box<dyn Held>>>;

    /// Gives an external file a name in the table: by a hard link, or by a synced copy if `copy` is
    /// set and the file is on another file system.
    ///
    /// # Errors
    /// I/O errors.
    fn adopt(&self, from: &std::path::Path, to: &str, copy: bool) -> Result<()>;
}

/// A file being written sequentially.
pub trait WriteFile: Write + Send {
    /// Makes the written bytes durable. The file's name is durable once its directory is synced.
    ///
    /// # Errors
    /// I/O errors; the durable state is unknown afterwards.
    fn sync(&mut self) -> Result<()>;
}

/// A file with random read access.
pub trait ReadAt: Debug + Send + Sync {
    /// Its length.
    fn length_bytes(&self) -> u64;

    /// Fills `into` from `offset_bytes` on.
    ///
    /// # Errors
    /// I/O errors; `UnexpectedEof` if the file is too short.
    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()>;
}

/// Mode of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Shared with other locks of this mode.
    Shared,
    /// Exclusive.
    Alone,
}

/// A lock, held until dropped.
pub trait Held: Debug + Send + Sync {}

/// Limit on files of unknown length that are read whole: a manifest of a million files. Prevents a
/// damaged or foreign file from exhausting the memory.
pub(crate) const WHOLE_BYTES_MAX: u64 = 512 << 20;

/// Reads a whole file of at most `bytes_max`.
pub(crate) fn read_all(files: &dyn Files, path: &str, bytes_max: u64) -> Result<Vec<u8>> {
    let file = files.open(path)?;
    let length_bytes = file.length_bytes();
    if length_bytes > bytes_max {
        let why = format!("it has {length_bytes} bytes, and {bytes_max} at most make sense");
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    whole(file.as_ref())
}

/// Reads a whole file whose length has been validated.
pub(crate) fn whole(file: &dyn ReadAt) -> Result<Vec<u8>> {
    let length = usize::try_from(file.length_bytes()).map_err(|_| ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}
