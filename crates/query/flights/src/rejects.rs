use std::fmt;
use std::sync::Arc;

use crate::Column;

/// A rejected row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line number from 1, including the header.
    pub line: u64,
    /// The reason.
    pub reason: BadRow,
    /// Contents of the row, at most [`Self::ROW_BYTES_MAX`].
    pub row: Vec<u8>,
}

impl Reject {
    /// Maximum stored length of a row.
    pub const ROW_BYTES_MAX: usize = 4096;
}

/// Receiver of rejected rows.
pub trait Rejects {
    /// Takes a row. Rows arrive in the order of files and lines.
    fn take(&mut self, reject: Reject);
}

impl Rejects for Vec<Reject> {
    fn take(&mut self, reject: Reject) {
        self.push(reject);
    }
}

/// Reason to reject a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRow {
    /// The number of columns differs from the header's.
    #[error("{got} columns, and the header has {expected}")]
    Columns {
        /// Columns of the header.
        expected: usize,
        /// Columns of the row.
        got: usize,
    },
    /// A cell is invalid for its column.
    #[error("{} is `{text}`, which is no {expected}", column.name())]
    Cell {
        /// The column.
        column: Column,
        /// The cell, escaped, and truncated if it is long.
        text: String,
        /// Expected contents.
        expected: &'static str,
    },
    /// A mandatory cell is empty.
    #[error("{} is missing", column.name())]
    Missing {
        /// The column.
        column: Column,
    },
    /// The date doesn't exist.
    #[error("{year}-{month}-{day} is no date")]
    Date {
        /// The year.
        year: u16,
        /// The month.
        month: u8,
        /// The day.
        day: u8,
    },
    /// The row contains a NUL byte.
    #[error("a NUL byte")]
    Nul,
    /// A code isn't UTF-8.
    #[error("a code that is not UTF-8: convert the file first")]
    Encoding,
    /// A quote isn't closed on its line.
    #[error("a quote that is not closed on its line")]
    Quote,
    /// The line is too long.
    #[error("a line of more than {max_bytes} bytes")]
    TooLong {
        /// Maximum length.
        max_bytes: usize,
    },
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file has another encoding and is skipped.
    #[error("the file is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)")]
    Utf16,
    /// Lines end in CR alone; the file is skipped.
    #[error("the file's lines end in CR alone: convert it first (tr '\\r' '\\n')")]
    CarriageReturns,
    /// The header isn't one of flights; the file is skipped.
    #[error("the header is not that of flight records: {missing} is missing")]
    Header {
        /// First missing column.
        missing: &'static str,
    },
    /// The header contains a column twice; the file is skipped.
    #[error("the header has {column} twice: take one of them out")]
    HeaderTwice {
        /// The column.
        column: &'static str,
    },
}

impl BadRow {
    /// Creates the reason for an invalid cell.
    pub(crate) fn cell(column: Column, cell: &[u8], expected: &'static str) -> Self {
        const SHOWN_BYTES: usize = 32;
        let shown = cell.get(..SHOWN_BYTES.min(cell.len())).unwrap_or(cell);
        let more = if shown.len() < cell.len() { "…" } else { "" };
        Self::Cell { column, text: format!("{}{more}", shown.escape_ascii()), expected }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} line {}: {}", self.file, self.line, self.reason)
    }
}
