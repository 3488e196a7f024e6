use std::fmt;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::Stopped;

/// What a table or a scan can't do, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// The system refused.
    #[error("{action} `{file}`: {source}{}", Mend(.source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file, as the table calls it.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Its caller wanted it to end.
    #[error("{Stopped}")]
    Stopped,
    /// A directory is no table, or one that is damaged at its root.
    #[error("`{file}` doesn't lead to a table: {why}")]
    NotATable {
        /// The file that should.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is a table already.
    #[error("there is a table already (its `CURRENT` exists); load into it, or choose another directory")]
    TableExists,
    /// A directory that is to become a table holds something else.
    #[error(
        "the directory holds `{file}`, which is nothing of a table; choose an empty one, or one that doesn't exist"
    )]
    NotEmpty {
        /// What it holds.
        file: String,
    },
    /// Another process or thread writes.
    #[error("another process writes to this table (it holds `LOCK`); try again when it is done")]
    Locked,
    /// Rows don't have the table's columns, or a file hasn't those of the others.
    #[error("column `{column}`{} is {got}, {}", OfFile(.file), Expected(.file, .expected))]
    Schema {
        /// The file; empty where the rows are of none.
        file: String,
        /// The column.
        column: String,
        /// What the rows have.
        got: String,
        /// What the table has.
        expected: String,
    },
    /// A column is of a kind that isn't read or written here.
    #[error("column `{column}`{}: {why}", OfFile(.file))]
    Unsupported {
        /// The file; empty where none exists yet.
        file: String,
        /// The column.
        column: String,
        /// What is not supported.
        why: String,
    },
    /// There is no such column.
    #[error("there is no column `{column}`{}; there are: {}", InFile(.file), .known.join(", "))]
    UnknownColumn {
        /// The file; empty where it is about the table.
        file: String,
        /// What was asked for.
        column: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A predicate's value isn't one of the column's type.
    #[error("`{value}` is no value of column `{column}`, which is {expected}")]
    Value {
        /// The column.
        column: String,
        /// What was given.
        value: String,
        /// The column's type.
        expected: String,
    },
    /// What a file holds isn't what was written.
    #[error("{place}: {why}")]
    Damaged {
        /// Where.
        place: Place,
        /// What is wrong.
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
    /// The Parquet library panicked over a file, which is therefore taken to be damaged.
    #[error("{place}: the Parquet decoder panicked: {what}; the file is damaged or hostile")]
    DecoderPanicked {
        /// Where.
        place: Place,
        /// What the panic said.
        what: String,
    },
    /// The Parquet library panicked while it wrote a file.
    #[error("`{file}`: the Parquet writer panicked while {action}: {what}; nothing of these rows is kept")]
    WriterPanicked {
        /// The file, as the table calls it.
        file: String,
        /// What was being written.
        action: String,
        /// What the panic said.
        what: String,
    },
    /// The Parquet library reports an error.
    #[error("{place}: {action}: {source}")]
    Parquet {
        /// What was tried.
        action: &'static str,
        /// Where.
        place: Place,
        /// What the library said.
        source: Box<ParquetError>,
    },
    /// Arrow's kernels report an error.
    #[error("{action}: {source}")]
    Arrow {
        /// What was tried.
        action: &'static str,
        /// What the library said.
        source: ArrowError,
    },
    /// Planned reads failed.
    #[error("reading{}: {source}", OfFile(.file))]
    Reads {
        /// The file; empty where it isn't about one.
        file: String,
        /// What the reads say.
        source: nandle_reads::ReadsError,
    },
    /// A call that doesn't fit this table or this scan.
    #[error("{what}; {mend}")]
    Misuse {
        /// What was asked for.
        what: String,
        /// What to do instead.
        mend: &'static str,
    },
}

/// A place in a table, as exactly as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the table or the caller calls it.
    pub file: String,
    /// The row group, from 0 on.
    pub row_group: Option<usize>,
    /// The column.
    pub column: Option<String>,
    /// Where in the file it begins.
    pub offset_bytes: Option<u64>,
}

impl Place {
    /// A file as a whole.
    pub fn of_file(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// A column chunk.
    pub fn of_chunk(file: &str, row_group: usize, column: &str) -> Self {
        Self { row_group: Some(row_group), column: Some(column.to_owned()), ..Self::of_file(file) }
    }
}

impl fmt::Display for Place {
    /// Without the offset, which those say who know it.
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

/// What a column should be, and what to do where it isn't.
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

/// What the user can do about a refusal, where it is known.
struct Mend<'a>(&'a std::io::Error);

/// `EMFILE`, of which the standard library makes no kind.
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
    /// Where it is, and what is wrong there, of errors that are about a place in a file.
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

    /// As [`parquet`](Self::parquet), of a file that is written: where it was the system that refused, the error says so.
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
