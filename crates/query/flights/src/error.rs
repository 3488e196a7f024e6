use std::io;
use std::sync::Arc;

use arrow_schema::ArrowError;

use crate::Reject;

/// Flights could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file couldn't be read, or its compressed data are damaged or cut.
    #[error("reading {file}, after {after_lines} lines: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// How many of its lines had been read.
        after_lines: u64,
        /// What the system, or the decoder, says.
        source: io::Error,
    },
    /// More rows are bad than may be.
    #[error(
        "{bad_rows} of {rows} rows are bad, and only {:.2} % may be; the first is {first}. Raise the share of bad rows that is allowed if \
         the others are wanted all the same",
        bad_max * 100.0
    )]
    TooManyBad {
        /// Bad rows so far.
        bad_rows: u64,
        /// All rows so far.
        rows: u64,
        /// The share that may be bad.
        bad_max: f64,
        /// The first of them.
        first: Box<Reject>,
    },
    /// A thread that parses ended without a result.
    #[error("a thread that parses flights ended without a result, which is a defect")]
    Thread,
    /// Columns don't make a batch.
    #[error("a batch of flights: {0}")]
    Arrow(#[from] ArrowError),
}
