use std::fmt;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::Stopped;

/// Error of a table or a scan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// An I/O operation failed.
    #[error("{action} `{file}`: {source}{}", Mend(.source))]
    Io {
        /// The operation.
        action: &'static str,
        /// The file, by its path in the table.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The caller stopped the work.
    #[error("{Stopped}")]
    Stopped,
    /// The directory isn't a table, or its root is damaged.
    #[error("`{file}` doesn't lead to a table: {why}")]
    NotATable {
        /// The missing or damaged file.
        file: String,
        /// The problem.
        why: String,
    },
    /// The directory already contains a table.
    #[error("there is a table already (its `CURRENT` exists); load into it, or choose another directory")]
    TableExists,
    /// The directory for a new table contains other files.
    #[error(
        "the directory holds `{file}`, which is nothing of a table; choose an empty one, or one that doesn't exist"
    )]
    NotEmpty {
        /// One of these files.
        file: String,
    },
    /// Another process or thread is writing.
    #[error("another process writes to this table (it holds `LOCK`); try again when it is done")]
    Locked,
    /// The columns of rows or files differ.
    #[error("column `{column}`{} is {got}, {}", OfFile(.file), Expected(.file, .expected))]
    Schema {
        /// The file; empty for rows without one.
        file: String,
        /// The column.
        column: String,
        /// Its actual type.
        got: String,
        /// Its expected type.
        expected: String,
    },
    /// A column's type isn't supported.
    #[error("column `{column}`{}: {why}", OfFile(.file))]
    Unsupported {
        /// The file; empty if none exists yet.
        file: String,
        /// The column.
        column: String,
        /// The unsupported property.
        why: String,
    },
    /// A column doesn't exist.
    #[error("there is no column `{column}`{}; there are: {}", InFile(.file), .known.join(", "))]
    UnknownColumn {
        /// The file; empty if it concerns the table.
        file: String,
        /// The requested column.
        column: String,
        /// The existing columns.
        known: Vec<String>,
    },
    /// A predicate's value doesn't match the column's type.
    #[error("`{value}` is no value of column `{column}`, which is {expected}")]
    Value {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// Type of the column.
        expected: String,
    },
    /// The contents of a file are damaged.
    #[error("{place}: {why}")]
    Damaged {
        /// Place of the damage.
        place: Place,
        /// The problem.
        why: String,
    },
    /// A file's footer is encrypted.
    #[error(
        "`{file}`: its footer is encrypted, and files with encrypted footers aren't read; write a copy of it that isn't encrypted"
    )]
    Encrypted {
        /// The file.
        file: String,
    },
    /// The Parquet library panicked while reading, so the file is considered damaged.
    #[error("{place}: the Parquet decoder panicked: {what}; the file is damaged or hostile")]
    DecoderPanicked {
        /// Place of the data.
        place: Place,
        /// Message of the panic.
        what: String,
    },
    /// The Parquet library panicked while writing a file.
    #[error("`{file}`: the Parquet writer panicked while {action}: {what}; nothing of these rows is kept")]
    WriterPanicked {
        /// The file, by its path in the table.
        file: String,
        /// The operation.
        action: String,
        /// Message of the panic.
        what: String,
    },
    /// The Parquet library reported an error.
    #[error("{place}: {action}: {source}")]
    Parquet {
        /// The operation.
        action: &'static str,
        /// Place of the data.
        place: Place,
        /// The cause.
        source: Box<ParquetError>,
    },
    /// An Arrow kernel reported an error.
    #[error("{action}: {source}")]
    Arrow {
        /// The operation.
        action: &'static str,
        /// The cause.
        source: ArrowError,
    },
    /// A planned read failed.
    #[error("reading{}: {source}", OfFile(.file))]
    Reads {
        /// The file; empty if it concerns none.
        file: String,
        /// The cause.
        source: nandle_reads::ReadsError,
    },
    /// An invalid call for this table or scan.
    #[error("{what}; {mend}")]
    Misuse {
        /// The requested operation.
        what: String,
        /// The remedy.
        mend: &'static str,
    },
}

/// A place in a table, as precise as possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, by its name in the table or the caller's name.
    pub file: String,
    /// The row group, from 0.
    pub row_group: Option<usize>,
    /// The column.
    pub column: Option<String>,
    /// Offset in the file.
    pub offset_bytes: Option<u64>,
}

impl Place {
    /// A whole file.
    pub fn of_file(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// A column chunk.
    pub fn of_chunk(file: &str, row_group: usize, column: &str) -> Self {
        Self { row_group: Some(row_group), column: Some(column.to_owned()), ..Self::of_file(file) }
    }
}

impl fmt::Display for Place {
    /// Omits the offset, which callers add if they have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file)?;
        if let Some(row_group) = self.row_group {
            write!(f, ", row group {row_group}")?;
        }
        self.column.iter().try_for_each(|column| write!(f, ", column `{column}`"))
    }
}

struct OfFile<'a>(&'a str);

impl fmt::Display for OfFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " of `{}`", self.0) }
    }
}

struct InFile<'a>(&'a str);

impl fmt::Display for InFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " in `{}`", self.0) }
    }
}

/// Expected type of a column, and the remedy.
struct Expected<'a>(&'a str, &'a str);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(file, expected) = self;
        if file.is_empty() {
            write!(f, "and the table has {expected}; change the rows, or make a new table")
        } else {
            write!(f, "where {expected} is expected; change the file, or leave it out")
        }
    }
}

/// Remedy for an I/O error, if there is one.
struct Mend<'a>(&'a std::io::Error);

/// `EMFILE`, for which the standard library has no `ErrorKind`.
const TOO_MANY_OPEN_FILES: i32 = 24;

impl fmt::Display for Mend<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self.0.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => f.write_str("; make room there, and do it again"),
            _ if self.0.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => {
                f.write_str("; let the process open more files (ulimit -n)")
            }
            _ => Ok(()),
        }
    }
}

impl ColumnsError {
    /// Returns the place of the error and its message, if it concerns a place in a file.
    pub fn at_place(&self) -> Option<(Place, String)> {
        match self {
            Self::Damaged { place, why } => Some((place.clone(), why.clone())),
            Self::DecoderPanicked { place, what } => {
                Some((place.clone(), format!("the Parquet decoder panicked: {what}")))
            }
            Self::Parquet { action, place, source } => Some((place.clone(), format!("{action}: {source}"))),
            Self::Io { action, file, source } => Some((Place::of_file(file), format!("{action}: {source}"))),
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, file: &str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| match source {
            source if Stopped::is(&source) => Self::Stopped,
            source => Self::Io { action, file: file.to_owned(), source },
        }
    }

    pub(crate) fn arrow(action: &'static str) -> impl FnOnce(ArrowError) -> Self {
        move |source| Self::Arrow { action, source }
    }

    pub(crate) fn parquet(action: &'static str, place: &Place) -> impl FnOnce(ParquetError) -> Self {
        let place = place.clone();
        move |source| Self::Parquet { action, place, source: Box::new(source) }
    }

    /// As [`parquet`](Self::parquet) for a file being written, but reports I/O errors of the system
    /// as such.
    pub(crate) fn writing(action: &'static str, file: &str) -> impl FnOnce(ParquetError) -> Self {
        let file = file.to_owned();
        move |source| match source {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => Self::io(action, &file)(*source),
                Err(source) => Self::parquet(action, &Place::of_file(&file))(ParquetError::External(source)),
            },
            source => Self::parquet(action, &Place::of_file(&file))(source),
        }
    }

    pub(crate) fn damaged(place: &Place, why: impl Into<String>) -> Self {
        Self::Damaged { place: place.clone(), why: why.into() }
    }
}
