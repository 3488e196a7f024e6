use std::path::PathBuf;

use crate::CubeQuery;

/// Error of the row store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtreeError {
    /// The path of the new database exists.
    #[error("{} exists: a database is made anew, name another path", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// SQLite doesn't support the page size.
    #[error("{page_bytes} is no page size of SQLite's: a power of two from 512 to 65536")]
    PageBytes {
        /// The requested size.
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
    /// A batch doesn't have the schema of flights.
    #[error("a batch has no column {column} of the flights' schema")]
    Schema {
        /// First column that is missing or of a wrong type.
        column: &'static str,
    },
    /// SQLite failed.
    #[error("{what}: {source}")]
    Sqlite {
        /// The operation.
        what: &'static str,
        /// The cause.
        source: rusqlite::Error,
    },
}

impl BtreeError {
    /// Adds the operation to an error of SQLite.
    pub(super) fn of(what: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Sqlite { what, source }
    }
}
