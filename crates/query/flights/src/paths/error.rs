use arrow_schema::ArrowError;
use nandle_columns::ColumnsError;
use nandle_reads::ReadsError;

use crate::CountError;

/// A cube could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CubeError {
    /// A table's column can't be read, or is damaged.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// Reads can't be planned or carried out.
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
        /// What Arrow says.
        source: ArrowError,
    },
    /// A row group has a value that its own dictionary didn't have when it was read first.
    #[error(
        "column {column} has a value that none of the dictionaries had: the file was changed while it was read"
    )]
    UnknownValue {
        /// The column.
        column: &'static str,
    },
}
