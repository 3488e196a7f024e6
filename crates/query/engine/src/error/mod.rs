mod kind;

use std::any::Any;
use std::error::Error;
use std::path::PathBuf;

use datafusion::arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use nandle_columns::{ColumnsError, Place};
use nandle_reads::ReadsError;

use crate::TextPlace;
pub use kind::ErrorKind;

/// Error of a query or a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// An I/O operation failed.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The operation.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A name refers to no data.
    #[error("{name}: {why}")]
    Source {
        /// The name.
        name: String,
        /// The problem and its remedy.
        why: String,
    },
    /// Two sources would form tables of the same name.
    #[error(
        "{first} and {second} would both be the table `{name}`; give one of them another name, as in OTHER={place}"
    )]
    SameName {
        /// The name.
        name: String,
        /// The first source.
        first: String,
        /// The second source.
        second: String,
        /// The second source without an explicit name.
        place: String,
    },
    /// Files of one table have a column with different types.
    #[error(
        "column `{column}` is {got} in {file} and {expected} in the files before it; query them as different tables"
    )]
    Types {
        /// The column.
        column: String,
        /// The file.
        file: String,
        /// Its type in this file.
        got: String,
        /// Its type in the other files.
        expected: String,
    },
    /// A file has two columns of the same name.
    #[error(
        "{file} has two columns `{column}`, so which one a query means can't be told; write the file anew with names that differ"
    )]
    SameColumn {
        /// The name.
        column: String,
        /// The file.
        file: String,
    },
    /// A query planned by another machine refers to different data.
    #[error(
        "{what} is {got} here, and {expected} where the query was planned; bring both to the same data, by copying or by loading the same"
    )]
    OtherData {
        /// A table or a file.
        what: String,
        /// The state expected by the query.
        expected: String,
        /// The local state.
        got: String,
    },
    /// A file isn't Parquet, or is damaged.
    #[error("{0}")]
    Columns(#[from] ColumnsError),
    /// Temporary files reached their limit.
    #[error(
        "a query needs more disk space for temporary files than they may have, which is {limit_bytes} bytes; allow more (--spill-limit), or give more memory \
         (--memory)"
    )]
    OutOfSpill {
        /// Limit on their total size.
        limit_bytes: u64,
    },
    /// The disk of the temporary files is full.
    #[error(
        "there is no room for more temporary files in {}: {source}; make room on that disk, have them on another (--spill-directory), or give more \
         memory (--memory)", directory.display()
    )]
    SpillDiskFull {
        /// Their directory.
        directory: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A temporary file is damaged.
    #[error(
        "{bytes} bytes from {begin} on of the temporary file {}: what the device returned isn't what was written; check the device, or have temporary \
         files on another (--spill-directory)", path.display()
    )]
    TemporaryDamaged {
        /// The file, which is removed with its query.
        path: PathBuf,
        /// Offset of the damaged bytes.
        begin: u64,
        /// Number of the damaged bytes.
        bytes: usize,
    },
    /// A planned read failed.
    #[error("reading {file}: {source}")]
    Reads {
        /// The file; `the table` if it concerns none.
        file: String,
        /// The cause.
        source: ReadsError,
    },
    /// The decoder panicked, so the file is considered damaged.
    #[error("{place}: the Parquet decoder panicked: {what}; the file is damaged or hostile")]
    DecoderPanicked {
        /// Place of the data.
        place: Place,
        /// Message of the panic.
        what: String,
    },
    /// The engine doesn't run such statements.
    #[error("{statement} isn't possible here: {mend}")]
    Statement {
        /// Kind of the statement.
        statement: String,
        /// The remedy.
        mend: &'static str,
    },
    /// Clients of a server may not run this.
    #[error("{what} isn't allowed here: {why}")]
    Refused {
        /// The statement.
        what: String,
        /// The reason or the remedy.
        why: &'static str,
    },
    /// A statement can't be planned.
    #[error("{error}{hint}")]
    Planning {
        /// The cause.
        error: Box<EngineError>,
        /// Suggestion after a semicolon; empty if there is none.
        hint: String,
        /// Position in the statement's text, if known.
        place: Option<TextPlace>,
    },
    /// A parameter has no value.
    #[error("the parameter ${number} has no value; bind one, or write the value in its place")]
    Unbound {
        /// Number of the parameter.
        number: usize,
    },
    /// Expressions are nested too deeply for a thread's stack.
    #[error(
        "the statement's operators and keywords lie in one another up to {depth} deep, and {most} is the most; split it, or write lists (IN, VALUES) \
         for long chains of OR"
    )]
    TooDeep {
        /// Upper bound of the depth, from keywords and symbols.
        depth: usize,
        /// Limit.
        most: usize,
    },
    /// The text is too long: the memory of its plan would be a large multiple.
    #[error(
        "the text has {bytes} bytes, and {bytes_max} is the most; send fewer statements at a time, and have long lists of values as a table"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
        /// Limit.
        bytes_max: usize,
    },
    /// An operator panicked, which is a defect of the engine; other queries continue.
    #[error("the engine panicked: {what}; other queries go on")]
    Panicked {
        /// Message of the panic.
        what: String,
    },
    /// The engine reported an error.
    #[error("{}", text_of(.0))]
    Query(Box<DataFusionError>),
    /// Another machine failed to do its part of the query.
    #[error("{0}")]
    Elsewhere(Box<dyn Error + Send + Sync>),
    /// CSV can't represent a column.
    #[error(
        "the column `{column}` is {data_type}, and CSV has no form for lists and structs; write JSON (--format json), or make a text of it: \
         array_to_string(…, ';'), or (…)['field'] for a field"
    )]
    Nested {
        /// The column.
        column: String,
        /// Its type.
        data_type: String,
    },
    /// Parquet can't represent a column.
    #[error(
        "the column `{column}` is {data_type}, which can't be written as Parquet ({why}); make a text of it, CAST(… AS VARCHAR), or of an interval its seconds, \
         date_part('epoch', …)"
    )]
    NoParquet {
        /// The column.
        column: String,
        /// Its type.
        data_type: String,
        /// Message of the writer.
        why: String,
    },
    /// Rows can't be written.
    #[error("writing rows: {0}")]
    Output(std::io::Error),
    /// The caller interrupted the statement.
    #[error("interrupted")]
    Interrupted,
}

impl EngineError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, path: path.into(), source }
    }

    /// Position in the text of a statement, if it has one.
    pub const fn place(&self) -> Option<TextPlace> {
        match self {
            Self::Planning { place, .. } => *place,
            _ => None,
        }
    }

    /// Converts a caught panic of an operator.
    pub fn panicked(panic: &(dyn Any + Send)) -> Self {
        Self::Panicked { what: panic_message(panic) }
    }
}

/// Message of the parser without type names. Also unwraps this crate's own error if it is shared by
/// several operators, and therefore can't be converted back.
fn text_of(error: &DataFusionError) -> String {
    let own = match error {
        DataFusionError::SQL(error, _) => match &**error {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => {
                return format!("syntax error: {text}");
            }
            ParserError::RecursionLimitExceeded => None,
        },
        DataFusionError::Shared(shared) => {
            kind::causes(Some(&**shared)).find_map(|cause| cause.downcast_ref::<EngineError>())
        }
        _ => None,
    };
    own.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

impl From<DataFusionError> for EngineError {
    /// Converts errors of this crate back.
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(source) => Self::Query(Box::new(DataFusionError::External(source))),
            },
            DataFusionError::IoError(source) => match source.downcast::<Self>() {
                Ok(own) => own,
                Err(source) => Self::Query(Box::new(DataFusionError::IoError(source))),
            },
            DataFusionError::ArrowError(arrow, trace) => match *arrow {
                // Errors of temporary files are wrapped by Arrow and I/O errors.
                ArrowError::IoError(text, source) => match source.downcast::<Self>() {
                    Ok(own) => own,
                    Err(source) => {
                        let arrow = Box::new(ArrowError::IoError(text, source));
                        Self::Query(Box::new(DataFusionError::ArrowError(arrow, trace)))
                    }
                },
                arrow => Self::Query(Box::new(DataFusionError::ArrowError(Box::new(arrow), trace))),
            },
            error => Self::Query(Box::new(error)),
        }
    }
}

impl From<EngineError> for DataFusionError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Query(error) => *error,
            error => Self::External(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_error_of_ours_is_told_by_its_own_words_wherever_it_comes_through() {
        let own = || std::io::Error::other(EngineError::OutOfSpill { limit_bytes: 7 });
        let arrow = || DataFusionError::ArrowError(Box::new(ArrowError::from(own())), None);
        let expected = EngineError::OutOfSpill { limit_bytes: 7 }.to_string();
        let system = || DataFusionError::IoError(own());
        let shared = |error| DataFusionError::Shared(Arc::new(error));
        for error in [arrow(), system(), shared(arrow()), shared(system())] {
            let error = EngineError::from(error);
            assert_eq!((error.to_string(), error.kind()), (expected.clone(), ErrorKind::OutOfSpill));
        }
    }

    #[test]
    fn an_error_of_the_system_is_one_of_reading_and_writing() {
        let error = || std::io::Error::other("the cable is out");
        let arrow = DataFusionError::ArrowError(Box::new(ArrowError::from(error())), None);
        for error in [arrow, DataFusionError::IoError(error())] {
            assert_eq!(EngineError::from(error).kind(), ErrorKind::Io);
        }
    }
}
