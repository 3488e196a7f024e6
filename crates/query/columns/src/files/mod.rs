mod on_demand;
mod real;
mod watched;

use std::fmt::Debug;
use std::io::{Error, ErrorKind, Result, Write};
use std::sync::Arc;

pub(crate) use self::on_demand::{ForeignFile, OnDemand};
pub use self::real::RealFiles;
pub use self::watched::{Stopped, Watch, WatchedFiles};

/// The file operations of a table, on paths relative to its directory. All writing goes through it, so that a test can put a
/// modelled file system under the same code, and cut its power at every operation.
pub trait Files: Debug + Send + Sync {
    /// Makes a file, or empties the one that is there.
    ///
    /// # Errors
    /// The system refuses.
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system refuses; `NotFound` when there is none.
    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>>;

    /// Renames a file, in the place of one that is there. Durable when both directories were synced.
    ///
    /// # Errors
    /// The system refuses.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system refuses.
    fn remove(&self, path: &str) -> Result<()>;

    /// Makes a directory and those on the way to it, unless they are there. The names of those that it makes are durable.
    ///
    /// # Errors
    /// The system refuses.
    fn create_dir(&self, path: &str) -> Result<()>;

    /// Makes the names in a directory durable; `""` is the table's own.
    ///
    /// # Errors
    /// The system refuses; what is durable is unknown then.
    fn sync_dir(&self, path: &str) -> Result<()>;

    /// The names of the files in a directory, in any order.
    ///
    /// # Errors
    /// The system refuses; `NotFound` when there is no such directory.
    fn list(&self, path: &str) -> Result<Vec<String>>;

    /// Locks a file against other processes and other callers until the result is dropped; doesn't wait. `None` when it is
    /// locked otherwise.
    ///
    /// # Errors
    /// The system refuses; `NotFound` also when the file was removed or replaced meanwhile.
    fn lock(&self, path: &str, sharing: Sharing) -> Result<Option<Box<dyn Held>>>;

    /// Gives a file from outside a name in the table: by a hard link, or where the file system is another one and `copy` is
    /// set, by a synced copy.
    ///
    /// # Errors
    /// The system refuses.
    fn adopt(&self, from: &std::path::Path, to: &str, copy: bool) -> Result<()>;
}

/// A file that is being written, from its beginning on.
pub trait WriteFile: Write + Send {
    /// Makes what was written durable; the file's name isn't until its directory is synced.
    ///
    /// # Errors
    /// The system refuses; what is durable is unknown then.
    fn sync(&mut self) -> Result<()>;
}

/// A file that can be read at any place.
pub trait ReadAt: Debug + Send + Sync {
    /// Its length.
    fn length_bytes(&self) -> u64;

    /// Fills `into` from `offset_bytes` on.
    ///
    /// # Errors
    /// The system refuses; `UnexpectedEof` when the file ends before.
    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()>;
}

/// Whether a lock admits others of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// It does.
    Shared,
    /// It doesn't.
    Alone,
}

/// A lock, until it is dropped.
pub trait Held: Debug + Send + Sync {}

/// The most bytes of a file that is read as a whole though nothing says how long it is: a manifest of a million files. Beyond that it is
/// none, and its length must not decide how much memory is taken.
pub(crate) const WHOLE_BYTES_MAX: u64 = 512 << 20;

/// A whole file of so many bytes at most.
pub(crate) fn read_all(files: &dyn Files, path: &str, bytes_max: u64) -> Result<Vec<u8>> {
    let file = files.open(path)?;
    let length_bytes = file.length_bytes();
    if length_bytes > bytes_max {
        let why = format!("it has {length_bytes} bytes, and {bytes_max} at most make sense");
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    whole(file.as_ref())
}

/// All bytes of a file whose length is known to make sense.
pub(crate) fn whole(file: &dyn ReadAt) -> Result<Vec<u8>> {
    let length = usize::try_from(file.length_bytes()).map_err(|_| ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}
