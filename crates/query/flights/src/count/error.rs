use arrow_schema::ArrowError;
use nandle_spill::SpillError;
use nandle_units::format_bytes;

/// Error of counting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// There is no column to group by.
    #[error("there is no column to group by, or one that has no values at all")]
    NoValues,
    /// The keys are too large.
    #[error("combinations of {columns} values don't fit into 63 bits: group by fewer columns")]
    TooManyCells {
        /// The columns with their numbers of values.
        columns: String,
    },
    /// A batch has a wrong number of columns.
    #[error("a batch has {got} columns of codes, and its groups have {expected}")]
    Columns {
        /// Columns of the space.
        expected: usize,
        /// Columns of the batch.
        got: usize,
    },
    /// Columns of a batch differ in length.
    #[error("column {column} of a batch has {got} rows, and the first one has {expected}")]
    Rows {
        /// The column.
        column: usize,
        /// Length of the first column.
        expected: usize,
        /// Length of this column.
        got: usize,
    },
    /// A run of equal codes is empty, or ends before the previous one.
    #[error(
        "column {column} of a batch has a run that doesn't end behind the one before it; runs are in the order of their rows"
    )]
    Runs {
        /// The column.
        column: usize,
    },
    /// A code isn't in the dictionary.
    #[error(
        "column {column} has the code {code}, and its dictionary has {codes} entries: the data are damaged"
    )]
    Code {
        /// The column.
        column: usize,
        /// The code.
        code: u32,
        /// Entries of the dictionary.
        codes: usize,
    },
    /// A table of shifted codes belongs to another space.
    #[error(
        "tables of shifted codes make keys of up to {got}, and the space has {cells}: they belong to another one"
    )]
    Table {
        /// Largest sum of its parts.
        got: u64,
        /// Cells of the space.
        cells: u64,
    },
    /// The memory is too small.
    #[error(
        "{purpose} needs {} of memory, and there are {}: raise the memory, or name temporary space",
        format_bytes(*needed_bytes),
        format_bytes(*memory_bytes)
    )]
    Memory {
        /// Purpose of the memory.
        purpose: &'static str,
        /// Sufficient memory, as far as it is known.
        needed_bytes: u64,
        /// Available memory.
        memory_bytes: u64,
    },
    /// The input isn't sorted as declared.
    #[error("row {row} belongs before the one that came before it: the input isn't sorted by its dimensions")]
    NotSorted {
        /// Number of the row, from 0.
        row: u64,
    },
    /// A thread ended without a result.
    #[error("a thread that counts ended without a result, which is a defect")]
    Thread,
    /// Temporary space failed.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// Results don't form a batch.
    #[error("a batch of results: {0}")]
    Arrow(#[from] ArrowError),
}
