use std::path::PathBuf;

use crate::CubeQuery;

/// The row store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtreeError {
    /// There is something where a new database is to be.
    #[error("{} exists: a database is made anew, name another path", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// SQLite has no such pages.
    #[error("{page_bytes} is no page size of SQLite's: a power of two from 512 to 65536")]
    PageBytes {
        /// What was asked for.
        page_bytes: u32,
    },
    /// The cube has no index.
    #[error(
        "{query} has no index in this database: name it when the database is made, and finish the database first"
    )]
    NoIndex {
        /// The cube.
        query: CubeQuery,
    },
    /// A batch isn't one of flights.
    #[error("a batch has no column {column} of the flights' schema")]
    Schema {
        /// The first column that isn't there, or of another type.
        column: &'static str,
    },
    /// SQLite failed.
    #[error("{what}: {source}")]
    Sqlite {
        /// What was being done.
        what: &'static str,
        /// What it says.
        source: rusqlite::Error,
    },
}

impl BtreeError {
    /// Says what was being done when SQLite failed.
    pub(super) fn of(what: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Sqlite { what, source }
    }
}
