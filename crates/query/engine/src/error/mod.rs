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

/// What a query or a table can't do, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A name leads to no data.
    #[error("{name}: {why}")]
    Source {
        /// The name.
        name: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// Two tables would have one name.
    #[error(
        "{first} and {second} would both be the table `{name}`; give one of them another name, as in OTHER={place}"
    )]
    SameName {
        /// The name.
        name: String,
        /// What has it.
        first: String,
        /// What would have it, too.
        second: String,
        /// The same without a name of its own.
        place: String,
    },
    /// Files of one table have a column of different types.
    #[error(
        "column `{column}` is {got} in {file} and {expected} in the files before it; query them as different tables"
    )]
    Types {
        /// The column.
        column: String,
        /// The file.
        file: String,
        /// Its type there.
        got: String,
        /// Its type elsewhere.
        expected: String,
    },
    /// A file has two columns of one name.
    #[error(
        "{file} has two columns `{column}`, so which one a query means can't be told; write the file anew with names that differ"
    )]
    SameColumn {
        /// The name.
        column: String,
        /// The file.
        file: String,
    },
    /// A query that another machine has planned is of data that aren't the ones here.
    #[error(
        "{what} is {got} here, and {expected} where the query was planned; bring both to the same data, by copying or by loading the same"
    )]
    OtherData {
        /// A table or a file.
        what: String,
        /// What the query is of.
        expected: String,
        /// What is here.
        got: String,
    },
    /// A file is no Parquet, or is damaged.
    #[error("{0}")]
    Columns(#[from] ColumnsError),
    /// Temporary files have their full size.
    #[error(
        "a query needs more disk space for temporary files than they may have, which is {limit_bytes} bytes; allow more (--spill-limit), or give more memory \
         (--memory)"
    )]
    OutOfSpill {
        /// What all of them together may have.
        limit_bytes: u64,
    },
    /// Where temporary files lie there is no room for more.
    #[error(
        "there is no room for more temporary files in {}: {source}; make room on that disk, have them on another (--spill-directory), or give more \
         memory (--memory)", directory.display()
    )]
    SpillDiskFull {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A temporary file comes back with other bytes.
    #[error(
        "{bytes} bytes from {begin} on of the temporary file {}: what the device returned isn't what was written; check the device, or have temporary \
         files on another (--spill-directory)", path.display()
    )]
    TemporaryDamaged {
        /// The file, which goes with its query.
        path: PathBuf,
        /// Where the bytes begin.
        begin: u64,
        /// How many there are.
        bytes: usize,
    },
    /// Planned reads failed.
    #[error("reading {file}: {source}")]
    Reads {
        /// The file; `the table` where it isn't about one.
        file: String,
        /// What the reads say.
        source: ReadsError,
    },
    /// The decoder panicked over a file, which is therefore taken to be damaged.
    #[error("{place}: the Parquet decoder panicked: {what}; the file is damaged or hostile")]
    DecoderPanicked {
        /// Where.
        place: Place,
        /// What the panic said.
        what: String,
    },
    /// A statement that isn't one for this engine.
    #[error("{statement} isn't possible here: {mend}")]
    Statement {
        /// Which kind of statement.
        statement: String,
        /// What to do instead.
        mend: &'static str,
    },
    /// A statement that clients of a server may not give.
    #[error("{what} isn't allowed here: {why}")]
    Refused {
        /// What.
        what: String,
        /// Why, or what to do instead.
        why: &'static str,
    },
    /// A statement that can't be planned.
    #[error("{error}{hint}")]
    Planning {
        /// Why.
        error: Box<EngineError>,
        /// What may have been meant, behind a semicolon; empty where nothing is known.
        hint: String,
        /// Where in the statement's text, if that is known.
        place: Option<TextPlace>,
    },
    /// A parameter has no value.
    #[error("the parameter ${number} has no value; bind one, or write the value in its place")]
    Unbound {
        /// Which.
        number: usize,
    },
    /// Expressions lie in one another more deeply than a thread's stack has room for.
    #[error(
        "the statement's operators and keywords lie in one another up to {depth} deep, and {most} is the most; split it, or write lists (IN, VALUES) \
         for long chains of OR"
    )]
    TooDeep {
        /// How deep at most, by the statement's words and marks.
        depth: usize,
        /// How deep they may.
        most: usize,
    },
    /// A client's text is so long that what is made of it would take much more memory than it has letters.
    #[error(
        "the text has {bytes} bytes, and {bytes_max} is the most; send fewer statements at a time, and have long lists of values as a table"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// An operator panicked, which is a defect of the engine; other queries go on.
    #[error("the engine panicked: {what}; other queries go on")]
    Panicked {
        /// What the panic said.
        what: String,
    },
    /// The engine reports an error.
    #[error("{}", text_of(.0))]
    Query(Box<DataFusionError>),
    /// Another machine that takes part in the query can't do its part.
    #[error("{0}")]
    Elsewhere(Box<dyn Error + Send + Sync>),
    /// CSV has no form for a column.
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
    /// Parquet has no form for a column.
    #[error(
        "the column `{column}` is {data_type}, which can't be written as Parquet ({why}); make a text of it, CAST(… AS VARCHAR), or of an interval its seconds, \
         date_part('epoch', …)"
    )]
    NoParquet {
        /// The column.
        column: String,
        /// Its type.
        data_type: String,
        /// What the writer says.
        why: String,
    },
    /// Rows can't be written.
    #[error("writing rows: {0}")]
    Output(std::io::Error),
    /// Its caller wanted it to end.
    #[error("interrupted")]
    Interrupted,
}

impl EngineError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, path: path.into(), source }
    }

    /// Where in the text of a statement it is, if it is about that.
    pub const fn place(&self) -> Option<TextPlace> {
        match self {
            Self::Planning { place, .. } => *place,
            _ => None,
        }
    }

    /// A panic of an operator that was caught.
    pub fn panicked(panic: &(dyn Any + Send)) -> Self {
        Self::Panicked { what: panic_message(panic) }
    }
}

/// The parser's own words, without the names of its types; and those of an error of ours of which several operators were told, so that it can't become one
/// of ours again.
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

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

impl From<DataFusionError> for EngineError {
    /// Errors of ours come back as they were.
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
                // What is written to temporary files comes through Arrow and the system's errors.
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
