//! Version of a table's rows: identity and snapshot number, or lengths and times of files.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use nandle_columns::{Manifest, Table};

use super::open::{Stamp, TableFiles};
use super::source::Source;
use crate::EngineError;

/// A version of a table's rows. Equal versions have the same rows, as far as names, lengths and
/// times of files show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// Version of a table of this project.
    Snapshot {
        /// Identity of the table: a recreated table counts its snapshots from the beginning.
        table: u64,
        /// Number of the snapshot.
        number: u64,
    },
    /// Version of Parquet files: a hash of their names, lengths and times.
    Files(u64),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot { table, number } => write!(f, "snapshot-{number}-{table:016x}"),
            Self::Files(number) => write!(f, "files-{number:016x}"),
        }
    }
}

impl Version {
    /// Current version of a source.
    pub(super) fn now(source: &Source) -> Result<Self, EngineError> {
        if let Some(directory) = &source.table {
            return Ok(Self::of_table(&Table::open(directory)?.manifest()?));
        }
        let source = source.listed()?;
        let stamps = source.files.iter().map(Stamp::of).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::of_files(&source.files, &stamps))
    }

    fn of_table(manifest: &Manifest) -> Self {
        let Ok(table) = u64::from_str_radix(&manifest.table, 16) else {
            unreachable!("a manifest whose identity is no number was refused when it was read")
        };
        Self::Snapshot { table, number: manifest.snapshot }
    }

    fn of_files(paths: &[PathBuf], stamps: &[Stamp]) -> Self {
        // Unkeyed, so that the hash is equal in every run.
        let mut hasher = DefaultHasher::new();
        (paths, stamps).hash(&mut hasher);
        Self::Files(hasher.finish())
    }
}

impl TableFiles {
    /// Version of these files.
    pub(super) fn version(&self) -> Version {
        match self.snapshot.as_ref().and_then(|snapshot| snapshot.manifest()) {
            Some(manifest) => Version::of_table(manifest),
            None => Version::of_files(&self.paths, &self.stamps),
        }
    }
}
