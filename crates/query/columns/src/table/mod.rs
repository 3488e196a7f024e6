mod adopt;
mod cluster;
mod compact;
mod create;
mod discard;
mod project;
mod replace;
mod run_writer;
mod schema;
mod snapshot;
mod sort;
mod verify;
mod writer;
mod writing;

use std::path::Path;
use std::sync::Arc;

pub use self::adopt::{AdoptOptions, Adoption};
pub use self::create::{TableOptions, TableProfile};
pub use self::snapshot::Snapshot;
pub use self::writer::TableWriter;
pub use self::writing::Commit;

use self::writing::Writing;
use crate::directory::{Manifest, current_manifest};
use crate::{ColumnsError, Files, RealFiles};

/// A table: a directory of Parquet files with snapshots. `directory/mod.rs` specifies the
/// directory.
#[derive(Debug, Clone)]
pub struct Table {
    files: Arc<dyn Files>,
}

impl Table {
    /// Opens the table of a directory.
    ///
    /// # Errors
    /// The directory isn't a table, or its root is damaged.
    pub fn open(directory: &Path) -> Result<Self, ColumnsError> {
        Self::open_in(Arc::new(RealFiles::new(directory)))
    }

    /// Opens a table on any file system.
    ///
    /// # Errors
    /// It isn't a table, or its root is damaged.
    pub fn open_in(files: Arc<dyn Files>) -> Result<Self, ColumnsError> {
        current_manifest(files.as_ref())?;
        Ok(Self { files })
    }

    /// Reads the current manifest. Unlike a [snapshot](Self::snapshot) this doesn't protect files
    /// from removal.
    ///
    /// # Errors
    /// It can't be read, or is damaged.
    pub fn manifest(&self) -> Result<Manifest, ColumnsError> {
        current_manifest(self.files.as_ref())
    }

    /// Opens the current rows, which are kept until the result is dropped.
    ///
    /// # Errors
    /// A file can't be read, or is damaged.
    pub fn snapshot(&self) -> Result<Snapshot, ColumnsError> {
        Snapshot::open(&self.files)
    }

    /// Starts to append rows, as a new run.
    ///
    /// # Errors
    /// Another writer is active; remains of unfinished writes can't be removed.
    pub fn load(&self) -> Result<TableWriter, ColumnsError> {
        TableWriter::new(Writing::begin(&self.files)?, &[])
    }

    /// Starts to replace rows: the commit removes, in the same snapshot, all rows whose `keys`
    /// occur among the new rows.
    ///
    /// # Errors
    /// See [`load`](Self::load); or a column doesn't exist.
    pub fn replace(&self, keys: &[&str]) -> Result<TableWriter, ColumnsError> {
        if keys.is_empty() {
            let what = "rows were to be replaced by no column".to_owned();
            return Err(ColumnsError::Misuse {
                what,
                mend: "name the columns by which new rows take the place of old ones",
            });
        }
        TableWriter::new(Writing::begin(&self.files)?, keys)
    }

    /// Merges all runs into one. A sorted table is then sorted as a whole, with `memory_bytes` (at
    /// least 1 MiB) in addition to the row group being written, and temporary files for the rest.
    /// Keeps projections.
    ///
    /// # Errors
    /// Another writer is active; a file is damaged; I/O errors.
    pub fn compact(&self, memory_bytes: u64) -> Result<Commit, ColumnsError> {
        compact::compact(Writing::begin(&self.files)?, memory_bytes)
    }

    /// Creates a sorted copy of some columns of all rows, or replaces the one with the same
    /// columns. Uses `memory_bytes` (at least 1 MiB) in addition to a step of the scan and the row
    /// group being written, and temporary files for the rest. The next load or replacement drops
    /// the copy, because the rows change.
    ///
    /// # Errors
    /// Another writer is active; a column doesn't exist or occurs twice; a file is damaged; I/O
    /// errors.
    pub fn project(&self, columns: &[&str], memory_bytes: u64) -> Result<Commit, ColumnsError> {
        project::project(Writing::begin(&self.files)?, columns, memory_bytes)
    }

    /// Removes a table without rows, so that another one can be created in its directory: for use
    /// after a failed first load. Returns true if it had no rows.
    ///
    /// # Errors
    /// Another writer is active; I/O errors.
    pub fn discard_empty(self) -> Result<bool, ColumnsError> {
        discard::discard_empty(self.files.as_ref())
    }

    /// Returns all damage in the current snapshot: checks each file's length, its checksums and
    /// every block.
    ///
    /// # Errors
    /// No valid manifest exists, so nothing can be verified.
    pub fn verify(&self) -> Result<Vec<ColumnsError>, ColumnsError> {
        verify::verify(&self.files)
    }
}
