//! What the engine's errors become.

use nandle_engine::{EngineError, ErrorKind};
use nandle_terminal::Failure;

pub(crate) fn of_engine(error: &EngineError) -> Failure {
    match error {
        EngineError::Interrupted => Failure::interrupted("interrupted; the query's rows so far were written"),
        EngineError::Source { .. } | EngineError::SameName { .. } | EngineError::Statement { .. } => {
            Failure::usage(error.to_string())
        }
        error if error.kind() == ErrorKind::OutOfMemory => Failure::failed(format!(
            "{error}\nOperators that can't use temporary files, or all together, need more than they may have; give more by --memory, or use fewer \
             threads (--threads), each of which has a part of it."
        )),
        _ => Failure::failed(error.to_string()),
    }
}
