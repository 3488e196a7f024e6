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

/// A table: a directory of Parquet files with snapshots. The directory's specification is in `directory/mod.rs`.
#[derive(Debug, Clone)]
pub struct Table {
    files: Arc<dyn Files>,
}

impl Table {
    /// Opens the table of a directory.
    ///
    /// # Errors
    /// It is no table, or damaged at its root.
    pub fn open(directory: &Path) -> Result<Self, ColumnsError> {
        Self::open_in(Arc::new(RealFiles::new(directory)))
    }

    /// Opens a table on any files.
    ///
    /// # Errors
    /// It is no table, or damaged at its root.
    pub fn open_in(files: Arc<dyn Files>) -> Result<Self, ColumnsError> {
        current_manifest(files.as_ref())?;
        Ok(Self { files })
    }

    /// The present manifest. Unlike a [snapshot](Self::snapshot) it keeps no file from being removed.
    ///
    /// # Errors
    /// It can't be read, or is damaged.
    pub fn manifest(&self) -> Result<Manifest, ColumnsError> {
        current_manifest(self.files.as_ref())
    }

    /// The rows as they are now, which stay until the result is dropped.
    ///
    /// # Errors
    /// A file can't be read, or isn't the one that was written.
    pub fn snapshot(&self) -> Result<Snapshot, ColumnsError> {
        Snapshot::open(&self.files)
    }

    /// Begins to append rows, as one more run.
    ///
    /// # Errors
    /// Another writer is at work; what unfinished writing left can't be removed.
    pub fn load(&self) -> Result<TableWriter, ColumnsError> {
        TableWriter::new(Writing::begin(&self.files)?, &[])
    }

    /// Begins to put rows in the place of all those with the same values in some columns: when the result is committed, rows whose
    /// `keys` are among those of the new rows are gone, in the same snapshot.
    ///
    /// # Errors
    /// As with [`load`](Self::load); there is no such column.
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

    /// Merges all runs into one. A table that is sorted stays so as a whole: `memory_bytes` (1 MiB at
    /// least) is what that takes, beside the row group that is being written; what doesn't fit waits in temporary files. Projections stay.
    ///
    /// # Errors
    /// Another writer is at work; a file is damaged; the system refuses.
    pub fn compact(&self, memory_bytes: u64) -> Result<Commit, ColumnsError> {
        compact::compact(Writing::begin(&self.files)?, memory_bytes)
    }

    /// Makes a sorted covering copy of some columns of all rows, in the place of one of the same columns. It takes `memory_bytes` (1 MiB at least) beside a step of the scan and the row group that is being written; what doesn't
    /// fit waits in temporary files. The next load or replacement drops it, because its rows are then not the table's.
    ///
    /// # Errors
    /// Another writer is at work; there is no such column, or it is named twice; a file is damaged; the system refuses.
    pub fn project(&self, columns: &[&str], memory_bytes: u64) -> Result<Commit, ColumnsError> {
        project::project(Writing::begin(&self.files)?, columns, memory_bytes)
    }

    /// Takes a table without rows away, so that another one can be made in its directory: for a maker whose first load failed. Returns whether
    /// there were none.
    ///
    /// # Errors
    /// Another writer is at work; the system refuses.
    pub fn discard_empty(self) -> Result<bool, ColumnsError> {
        discard::discard_empty(self.files.as_ref())
    }

    /// Everything that is damaged in the present snapshot: each file's length, its sums and every block.
    ///
    /// # Errors
    /// There is no sound manifest, so nothing can be verified.
    pub fn verify(&self) -> Result<Vec<ColumnsError>, ColumnsError> {
        verify::verify(&self.files)
    }
}
