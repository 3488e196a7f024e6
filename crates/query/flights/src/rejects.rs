use std::fmt;
use std::sync::Arc;

use crate::Column;

/// A row that was kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The file's name.
    pub file: Arc<str>,
    /// Its line, from 1 on; the header is one.
    pub line: u64,
    /// Why.
    pub reason: BadRow,
    /// The row as it stands in the file, at most [`Self::ROW_BYTES_MAX`] of it.
    pub row: Vec<u8>,
}

impl Reject {
    /// So much of a row is kept.
    pub const ROW_BYTES_MAX: usize = 4096;
}

/// Where rows go that are kept aside.
pub trait Rejects {
    /// Takes a row. Rows come in the order of their files and lines.
    fn take(&mut self, reject: Reject);
}

impl Rejects for Vec<Reject> {
    fn take(&mut self, reject: Reject) {
        self.push(reject);
    }
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRow {
    /// It has more or fewer columns than the header.
    #[error("{got} columns, and the header has {expected}")]
    Columns {
        /// The header's.
        expected: usize,
        /// The row's.
        got: usize,
    },
    /// A cell isn't what its column holds.
    #[error("{} is `{text}`, which is no {expected}", column.name())]
    Cell {
        /// The column.
        column: Column,
        /// The cell, escaped, and not all of it if it is long.
        text: String,
        /// What it ought to be.
        expected: &'static str,
    },
    /// A cell is empty that no flight lacks.
    #[error("{} is missing", column.name())]
    Missing {
        /// The column.
        column: Column,
    },
    /// There is no such day.
    #[error("{year}-{month}-{day} is no date")]
    Date {
        /// The year.
        year: u16,
        /// The month.
        month: u8,
        /// The day.
        day: u8,
    },
    /// A NUL byte.
    #[error("a NUL byte")]
    Nul,
    /// A code isn't UTF-8.
    #[error("a code that is not UTF-8: convert the file first")]
    Encoding,
    /// A quote that isn't closed on the line on which it was opened.
    #[error("a quote that is not closed on its line")]
    Quote,
    /// A line longer than any row may be.
    #[error("a line of more than {max_bytes} bytes")]
    TooLong {
        /// The longest that is read.
        max_bytes: usize,
    },
    /// A file has no header: it is empty.
    #[error("the file is empty")]
    Empty,
    /// A file in another encoding. None of its rows is read.
    #[error("the file is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)")]
    Utf16,
    /// Lines that end in CR alone. None of the file's rows is read.
    #[error("the file's lines end in CR alone: convert it first (tr '\\r' '\\n')")]
    CarriageReturns,
    /// A file's header isn't one of flights. None of its rows is read.
    #[error("the header is not that of flight records: {missing} is missing")]
    Header {
        /// The first column that isn't there.
        missing: &'static str,
    },
    /// A file's header has a column twice. None of its rows is read.
    #[error("the header has {column} twice: take one of them out")]
    HeaderTwice {
        /// The column.
        column: &'static str,
    },
}

impl BadRow {
    /// A bad cell, as far as it can be shown.
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
