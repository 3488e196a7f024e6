//! Conversion of the engine's errors.

use nandle_engine::{EngineError, ErrorKind, TextPlace};
use nandle_terminal::Failure;

pub(crate) fn of_engine(error: &EngineError) -> Failure {
    match error {
        EngineError::Interrupted => Failure::interrupted("interrupted; no rows were written"),
        EngineError::Source { .. } | EngineError::SameName { .. } | EngineError::Statement { .. } => {
            Failure::usage(error.to_string())
        }
        error if error.kind() == ErrorKind::OutOfMemory => Failure::failed(format!(
            "{error}\nOperators that can't use temporary files, or all together, need more than they may have; give more by --memory, or use fewer \
             threads (--threads), each of which has a part of it."
        )),
        _ => Failure::failed(match error.place() {
            Some(TextPlace { line, column, .. }) => format!("{error} (line {line}, column {column})"),
            None => error.to_string(),
        }),
    }
}
