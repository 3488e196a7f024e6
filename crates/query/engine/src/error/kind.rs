//! Kinds of errors, for callers that map them to codes.

use std::error::Error;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::sqlparser::parser::ParserError;
use nandle_columns::ColumnsError;

use super::EngineError;

/// Kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text isn't SQL.
    Syntax,
    /// A table doesn't exist.
    UnknownTable,
    /// A column doesn't exist.
    UnknownColumn,
    /// A name is ambiguous between columns.
    AmbiguousColumn,
    /// A function doesn't exist, or not with these arguments.
    UnknownFunction,
    /// A parameter has no value.
    UnknownParameter,
    /// The statement writes; tables are read-only.
    ReadOnly,
    /// The statement isn't allowed here.
    Refused,
    /// The engine doesn't support the SQL.
    Unsupported,
    /// A statement is nested too deeply.
    TooDeep,
    /// A text is too long.
    TooLong,
    /// Incompatible types, or an otherwise invalid statement.
    Invalid,
    /// A division by zero.
    DivisionByZero,
    /// A number exceeds the range of its type.
    OutOfRange,
    /// A value can't be converted to another type.
    InvalidValue,
    /// The memory is exhausted.
    OutOfMemory,
    /// The temporary files reached their limit, or their disk is full.
    OutOfSpill,
    /// A file can't be read.
    Io,
    /// A file is damaged.
    Damaged,
    /// The caller ended the statement.
    Interrupted,
    /// A defect of the engine.
    Internal,
}

impl EngineError {
    /// Kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } | Self::Output(_) | Self::Reads { .. } => ErrorKind::Io,
            Self::Source { .. }
            | Self::SameName { .. }
            | Self::SameColumn { .. }
            | Self::Nested { .. }
            | Self::NoParquet { .. }
            | Self::Types { .. }
            | Self::OtherData { .. } => ErrorKind::Invalid,
            Self::Columns(error) => of_columns(error),
            Self::DecoderPanicked { .. } | Self::TemporaryDamaged { .. } => ErrorKind::Damaged,
            Self::Statement { .. } => ErrorKind::ReadOnly,
            Self::Refused { .. } => ErrorKind::Refused,
            Self::Unbound { .. } => ErrorKind::UnknownParameter,
            Self::TooDeep { .. } => ErrorKind::TooDeep,
            Self::TooLong { .. } => ErrorKind::TooLong,
            Self::Planning { error, .. } => error.kind(),
            Self::Panicked { .. } => ErrorKind::Internal,
            Self::OutOfSpill { .. } | Self::SpillDiskFull { .. } => ErrorKind::OutOfSpill,
            Self::Query(error) => of_query(error),
            Self::Elsewhere(error) => of_cause(error.source()).unwrap_or(ErrorKind::Io),
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}

fn of_columns(error: &ColumnsError) -> ErrorKind {
    match error {
        ColumnsError::Parquet { .. } => ErrorKind::Damaged,
        _ => ErrorKind::Io,
    }
}

fn of_query(error: &DataFusionError) -> ErrorKind {
    let is_of_system = || causes(Some(error)).any(<dyn Error>::is::<std::io::Error>);
    of_cause(Some(error)).unwrap_or_else(|| if is_of_system() { ErrorKind::Io } else { ErrorKind::Internal })
}

/// Returns the kind of the first specific error in the chain of causes.
fn of_cause(cause: Option<&(dyn Error + 'static)>) -> Option<ErrorKind> {
    causes(cause).find_map(|error| {
        let own = error.downcast_ref::<EngineError>().map(EngineError::kind);
        let arrow = || error.downcast_ref::<ArrowError>().and_then(of_arrow);
        let engine = || error.downcast_ref::<DataFusionError>().and_then(of_engine);
        own.or_else(arrow).or_else(engine)
    })
}

/// Iterates over an error and its causes. An I/O error may contain another error that it doesn't
/// report as its source.
pub(super) fn causes<'a>(
    error: Option<&'a (dyn Error + 'static)>,
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error, |error| {
        let error: &'a (dyn Error + 'static) = *error;
        let within = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        within.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

/// Returns `None` if the cause is more specific.
fn of_engine(error: &DataFusionError) -> Option<ErrorKind> {
    match error {
        DataFusionError::SQL(error, _) => Some(of_parser(error)),
        DataFusionError::NotImplemented(_) => Some(ErrorKind::Unsupported),
        DataFusionError::Plan(text) => Some(of_plan(text)),
        DataFusionError::Configuration(_) | DataFusionError::Substrait(_) => Some(ErrorKind::Invalid),
        DataFusionError::SchemaError(error, _) => Some(match **error {
            SchemaError::FieldNotFound { .. } => ErrorKind::UnknownColumn,
            SchemaError::AmbiguousReference { .. } => ErrorKind::AmbiguousColumn,
            SchemaError::DuplicateQualifiedField { .. } | SchemaError::DuplicateUnqualifiedField { .. } => {
                ErrorKind::Invalid
            }
        }),
        DataFusionError::Execution(text) => Some(of_execution(text)),
        DataFusionError::ResourcesExhausted(_) => Some(ErrorKind::OutOfMemory),
        DataFusionError::IoError(error) if error.get_ref().is_some() => None,
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => Some(ErrorKind::Io),
        DataFusionError::ParquetError(_) => Some(ErrorKind::Damaged),
        DataFusionError::Collection(errors) => errors.first().map(of_query),
        DataFusionError::Shared(error) => Some(of_query(error)),
        DataFusionError::ExecutionJoin(_) | DataFusionError::Internal(_) | DataFusionError::Ffi(_) => {
            Some(ErrorKind::Internal)
        }
        // Their causes are more specific.
        DataFusionError::ArrowError(..)
        | DataFusionError::External(_)
        | DataFusionError::Context(..)
        | DataFusionError::Diagnostic(..) => None,
    }
}

fn of_parser(error: &ParserError) -> ErrorKind {
    match error {
        ParserError::RecursionLimitExceeded => ErrorKind::TooDeep,
        ParserError::TokenizerError(_) | ParserError::ParserError(_) => ErrorKind::Syntax,
    }
}

/// The planner's errors are distinguished only by their text.
fn of_plan(text: &str) -> ErrorKind {
    let has = |part: &str| text.contains(part);
    if has("table '") && has("' not found") || has("table function '") && has("not found") {
        ErrorKind::UnknownTable
    } else if has("Invalid function") || has("Call to function") || has("No function matches") {
        ErrorKind::UnknownFunction
    } else {
        ErrorKind::Invalid
    }
}

fn of_execution(text: &str) -> ErrorKind {
    let lower = text.to_lowercase();
    if lower.contains("overflow") || lower.contains("out of range") {
        ErrorKind::OutOfRange
    } else if lower.contains("divide by zero") || lower.contains("division by zero") {
        ErrorKind::DivisionByZero
    } else {
        ErrorKind::InvalidValue
    }
}

/// Returns `None` if the cause is more specific.
fn of_arrow(error: &ArrowError) -> Option<ErrorKind> {
    Some(match error {
        ArrowError::DivideByZero => ErrorKind::DivisionByZero,
        ArrowError::ArithmeticOverflow(_)
        | ArrowError::OffsetOverflowError(_)
        | ArrowError::DictionaryKeyOverflowError
        | ArrowError::RunEndIndexOverflowError => ErrorKind::OutOfRange,
        // The number exceeds the range of the other type; other casts fail on the contents of a
        // text.
        ArrowError::CastError(text) if text.starts_with("Can't cast value") => ErrorKind::OutOfRange,
        ArrowError::CastError(_) | ArrowError::ParseError(_) => ErrorKind::InvalidValue,
        ArrowError::InvalidArgumentError(text) | ArrowError::ComputeError(text) => of_execution(text),
        ArrowError::NotYetImplemented(_) => ErrorKind::Unsupported,
        ArrowError::MemoryError(_) => ErrorKind::OutOfMemory,
        ArrowError::IoError(_, source) if source.get_ref().is_some() => return None,
        ArrowError::IoError(..) => ErrorKind::Io,
        ArrowError::ParquetError(_) | ArrowError::IpcError(_) => ErrorKind::Damaged,
        ArrowError::ExternalError(_) => return None,
        ArrowError::SchemaError(_)
        | ArrowError::CsvError(_)
        | ArrowError::JsonError(_)
        | ArrowError::AvroError(_)
        | ArrowError::CDataInterface(_) => ErrorKind::Internal,
    })
}
