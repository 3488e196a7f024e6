use arrow_schema::ArrowError;
use nandle_spill::SpillError;
use nandle_units::format_bytes;

/// Rows could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// Nothing to group by.
    #[error("there is no column to group by, or one that has no values at all")]
    NoValues,
    /// Keys don't fit.
    #[error("combinations of {columns} values don't fit into 63 bits: group by fewer columns")]
    TooManyCells {
        /// Each column with how many values it has.
        columns: String,
    },
    /// A batch isn't of this space.
    #[error("a batch has {got} columns of codes, and its groups have {expected}")]
    Columns {
        /// The space's.
        expected: usize,
        /// The batch's.
        got: usize,
    },
    /// Columns of a batch differ in length.
    #[error("column {column} of a batch has {got} rows, and the first one has {expected}")]
    Rows {
        /// Which column.
        column: usize,
        /// The first one's.
        expected: usize,
        /// Its own.
        got: usize,
    },
    /// A run of equal codes is empty, or ends before the one in front of it.
    #[error(
        "column {column} of a batch has a run that doesn't end behind the one before it; runs are in the order of their rows"
    )]
    Runs {
        /// Which column.
        column: usize,
    },
    /// A code isn't in the dictionary.
    #[error(
        "column {column} has the code {code}, and its dictionary has {codes} entries: the data are damaged"
    )]
    Code {
        /// Which column.
        column: usize,
        /// The code.
        code: u32,
        /// How many there are.
        codes: usize,
    },
    /// A table of shifted codes was made for another space.
    #[error(
        "tables of shifted codes make keys of up to {got}, and the space has {cells}: they belong to another one"
    )]
    Table {
        /// The largest sum.
        got: u64,
        /// The space's cells.
        cells: u64,
    },
    /// Memory is too small.
    #[error(
        "{purpose} needs {} of memory, and there are {}: raise the memory, or name temporary space",
        format_bytes(*needed_bytes),
        format_bytes(*memory_bytes)
    )]
    Memory {
        /// What for.
        purpose: &'static str,
        /// The least that would do, as far as it is known.
        needed_bytes: u64,
        /// What there is.
        memory_bytes: u64,
    },
    /// Rows that were said to be sorted aren't.
    #[error("row {row} belongs before the one that came before it: the input isn't sorted by its dimensions")]
    NotSorted {
        /// Its number, from 0 on, among all rows.
        row: u64,
    },
    /// A thread ended without a result.
    #[error("a thread that counts ended without a result, which is a defect")]
    Thread,
    /// Temporary space failed.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// Results don't make a batch.
    #[error("a batch of results: {0}")]
    Arrow(#[from] ArrowError),
}
