use arrow_schema::ArrowError;
use nandle_columns::ColumnsError;
use nandle_reads::ReadsError;

use crate::CountError;

/// Error of computing a cube.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CubeError {
    /// A column of the table can't be read, or is damaged.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// A planned read failed.
    #[error(transparent)]
    Reads(#[from] ReadsError),
    /// Rows can't be counted.
    #[error(transparent)]
    Count(#[from] CountError),
    /// Values of a column can't be compared.
    #[error("telling the values of column {column} apart: {source}")]
    Values {
        /// The column.
        column: &'static str,
        /// The cause.
        source: ArrowError,
    },
    /// A row group has a value that was missing in its dictionary before.
    #[error(
        "column {column} has a value that none of the dictionaries had: the file was changed while it was read"
    )]
    UnknownValue {
        /// The column.
        column: &'static str,
    },
}
