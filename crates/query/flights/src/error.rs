use std::io;
use std::sync::Arc;

use arrow_schema::ArrowError;

use crate::Reject;

/// Error of loading flights.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file can't be read, or its compressed data are damaged or truncated.
    #[error("reading {file}, after {after_lines} lines: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// Lines read before.
        after_lines: u64,
        /// The cause.
        source: io::Error,
    },
    /// There are too many bad rows.
    #[error(
        "{bad_rows} of {rows} rows are bad, and only {:.2} % may be; the first is {first}. Raise the share of bad rows that is allowed if \
         the others are wanted all the same",
        bad_max * 100.0
    )]
    TooManyBad {
        /// Bad rows so far.
        bad_rows: u64,
        /// Rows so far.
        rows: u64,
        /// Maximum share of bad rows.
        bad_max: f64,
        /// First bad row.
        first: Box<Reject>,
    },
    /// A parsing thread ended without a result.
    #[error("a thread that parses flights ended without a result, which is a defect")]
    Thread,
    /// Columns don't form a batch.
    #[error("a batch of flights: {0}")]
    Arrow(#[from] ArrowError),
}
